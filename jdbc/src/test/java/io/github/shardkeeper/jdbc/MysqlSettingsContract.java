package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What settings of MySQL or MariaDB, and of their drivers, change. */
abstract class MysqlSettingsContract {

	private final TestDatabase kind;

	MysqlSettingsContract(TestDatabase kind) {
		this.kind = kind;
	}

	static final ShardId SHARD = ShardId.of("orders", 1);

	static final Token OLD = new Token(7);

	static final Token NEW = new Token(8);

	HikariDataSource owner;

	HikariDataSource pool;

	private CheckpointStore store;

	@BeforeEach
	void create() {
		this.owner = this.kind.create();
		new JdbcTemplate(this.owner).execute("create table booked (id int)");
	}

	final void open(String options) {
		this.pool = new HikariDataSource();
		this.pool.setJdbcUrl(this.owner.getJdbcUrl() + "&" + options);
		this.pool.setMinimumIdle(0);
		this.store = plane().checkpoints(null);
	}

	private JdbcDataPlane plane() {
		return new JdbcDataPlane(new JdbcTransactionManager(this.pool), this.pool, DatabaseServer.TABLE_SETTINGS,
				"shop", Duration.ofSeconds(30));
	}

	@AfterEach
	void close() {
		if (this.store != null) {
			this.store.close();
		}
		if (this.pool != null) {
			this.pool.close();
		}
		this.owner.close();
	}

	/** If that is less than ours, its error is not one of the record. */
	@Test
	void waitThatTheServerLimitsIsNoFailureOfTheCall() throws Exception {
		open("sessionVariables=innodb_lock_wait_timeout=1");
		Acquired acquired = acquire(SHARD, OLD);
		JdbcDataPlane plane = plane();
		CountDownLatch locked = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Boolean> open = CompletableFuture
			.supplyAsync(() -> plane.steps().transactions().execute((status) -> {
				boolean found = plane.shards().lock(SHARD);
				locked.countDown();
				Latches.await(goOn);
				return found;
			}));
		Latches.await(locked);

		assertThat(call(OLD, commit(acquired, 1, 0, Map.of()), this::book))
			.isInstanceOfSatisfying(Result.Unavailable.class, (unavailable) -> assertThat(unavailable.failure())
				.hasMessageContaining("Another transaction has held the lock of the shard's row"));
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.store.acquireNow(SHARD, NEW))
			.withMessageContaining("Another transaction has held the lock of the shard's row");
		goOn.countDown();
		assertThat(open.get(60, TimeUnit.SECONDS)).isTrue();
		assertThat(call(OLD, commit(acquired, 2, 0, Map.of()), this::book)).isInstanceOf(Result.Committed.class);
		assertThat(count()).isOne();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void driverThatCountsChangedRowsFailsStartup(boolean inUrl) {
		open(inUrl ? "useAffectedRows=true" : "");
		if (!inUrl) {
			this.pool.addDataSourceProperty("useAffectedRows", "true");
		}

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> plane().prepare(null))
			.satisfies((failure) -> assertThat(failure.getDescription() + " " + failure.getAction())
				.contains("'useAffectedRows=true'", "Remove 'useAffectedRows'"));
	}

	/** Some of them do not count the rows of each statement. */
	@ParameterizedTest
	@ValueSource(strings = { "useAffectedRows=false", "useBulkStmts=true", "rewriteBatchedStatements=true",
			"useServerPrepStmts=true" })
	void entriesAreChangedAddedAndRemovedInBatches(String options) {
		open(options);
		plane().prepare(null);
		Acquired acquired = acquire(SHARD, OLD);
		commit(acquired, 1, "kept", "1", "changed", "1", "removed", "1");
		commit(acquired, 2, "changed", "2", "same", "1", "Same", "2", "same ", "3", "removed", null);
		commit(acquired, 3, "kept", "1", "same", "1");

		assertThat(this.store.read(SHARD).state()).containsExactlyInAnyOrderEntriesOf(
				Map.of("kept", "1", "changed", "2", "same", "1", "Same", "2", "same ", "3"));
	}

	private void commit(Acquired acquired, long attempt, String... changes) {
		Map<String, String> entries = new HashMap<>();
		for (int i = 0; i < changes.length; i += 2) {
			entries.put(changes[i], changes[i + 1]);
		}
		assertThat(this.store.commit(SHARD, OLD, commit(acquired, attempt, attempt - 1, entries)).join())
			.isEqualTo(CommitReply.COMMITTED);
	}

	/** The collation of the server says that they are the same. */
	@Test
	void namesThatDifferInCaseAreDifferentShards() {
		open("useAffectedRows=false");
		ShardId lower = new ShardId("orders", "north");
		acquire(lower, NEW);

		assertThat(acquire(new ShardId("orders", "North"), OLD).checkpoint().offset()).isNull();
		assertThat(acquire(new ShardId("Orders", "north"), OLD).checkpoint().offset()).isNull();
		assertThat(this.store.offsets(List.of(lower))).isEmpty();
	}

	final Acquired acquire(ShardId shard, Token token) {
		return (Acquired) this.store.acquireNow(shard, token);
	}

	final void book() {
		new JdbcTemplate(this.pool).update("insert into booked (id) values (1)");
	}

	final int count() {
		return new JdbcTemplate(this.pool).queryForObject("select count(*) from booked", Integer.class);
	}

	static Commit commit(Acquired acquired, long attempt, long acknowledged, Map<String, String> changes) {
		return new Commit(new CommitNumber(attempt, acknowledged, acquired.acquisition()), new Offset("5"), Set.of(),
				new HashMap<>(changes), List.of(), Set.of(), List.of());
	}

	final Result call(Token token, Commit commit, Runnable handler) {
		return this.store.transactions(SHARD.topic()).call(SHARD, token, new TestCall(handler, commit));
	}

}
