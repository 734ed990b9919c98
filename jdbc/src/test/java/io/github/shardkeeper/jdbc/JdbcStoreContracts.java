package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStoreContract;
import io.github.shardkeeper.checkpoint.CommitHistoryContract;
import io.github.shardkeeper.checkpoint.DeadLetterContract;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.OutboxContract;
import io.github.shardkeeper.checkpoint.OwnedStateContract;
import io.github.shardkeeper.checkpoint.RemovalContract;
import io.github.shardkeeper.checkpoint.RetryQueueContract;
import io.github.shardkeeper.checkpoint.SeekContract;
import io.github.shardkeeper.checkpoint.TimersContract;
import io.github.shardkeeper.coordination.store.StoreServer;

/** The contracts of the data plane, for one database. */
abstract class JdbcStoreContracts {

	private final Supplier<HikariDataSource> databases;

	private DatabaseServer server;

	JdbcStoreContracts(Supplier<HikariDataSource> databases) {
		this.databases = databases;
	}

	private DatabaseServer open() {
		this.server = new DatabaseServer(this.databases.get());
		return this.server;
	}

	@AfterEach
	void closeServer() {
		if (this.server != null) {
			this.server.close();
		}
	}

	@Nested
	class Checkpoints extends CheckpointStoreContract {

		@Override
		protected CheckpointStore createStore() {
			return open().databaseInRealTime(Duration.ofSeconds(30)).checkpoints(null);
		}

		@Override
		protected Object snapshot(CheckpointStore created) {
			return JdbcStoreContracts.this.server.snapshot();
		}

		@Override
		protected void loseWritesSince(CheckpointStore created, Object snapshot) {
			JdbcStoreContracts.this.server.loseWritesSince(snapshot);
		}

		@Override
		protected void empty(CheckpointStore created) {
			JdbcStoreContracts.this.server.empty();
		}

	}

	@Nested
	class History extends CommitHistoryContract {

		@Override
		protected CheckpointStore createStore() {
			return open().store();
		}

	}

	@Nested
	class Letters extends DeadLetterContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createCheckpoints(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

		@Override
		protected DeadLetterStore createLetters(StoreServer created) {
			return ((DatabaseServer) created).letters();
		}

	}

	@Nested
	class Sent extends OutboxContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createStore(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

	}

	@Nested
	class Timers extends TimersContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createStore(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

	}

	@Nested
	class States extends OwnedStateContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createStore(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

	}

	@Nested
	class Removals extends RemovalContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createStore(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

		@Override
		protected DeadLetterStore createLetters(StoreServer created) {
			return ((DatabaseServer) created).letters();
		}

	}

	@Nested
	class Retries extends RetryQueueContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createStore(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

	}

	@Nested
	class Positions extends SeekContract {

		@Override
		protected StoreServer createServer() {
			return open();
		}

		@Override
		protected CheckpointStore createStore(StoreServer created) {
			return ((DatabaseServer) created).store();
		}

	}

}
