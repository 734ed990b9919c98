package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Shards that were in another store before. */
@MoreInProof
class TakeOverTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId TARGET = ShardId.of("invoices", 0);

	private final MemoryCheckpointStore earlier = new MemoryCheckpointStore();

	/** Nobody would append them to their targets. */
	@EveryDatabase
	void shardWhoseOutboxIsNotEmptyIsNotTakenOver(TestDatabase kind) {
		Token old = new Token(1);
		this.earlier.acquireNow(SHARD, old);
		Outbox.Entry entry = new Outbox.Entry(new Outbox.Place(1, 1), 1, TARGET, 1, null, new byte[1], Map.of());
		commit(old, 1, new Outbox.Changes(1, entry.place(), Map.of(TARGET, 1L), List.of(entry), List.of(), false));
		try (HikariDataSource pool = kind.create()) {
			CheckpointStore database = new JdbcDataPlane(new JdbcTransactionManager(pool), pool,
					DatabaseServer.TABLE_SETTINGS, "app", Duration.ofSeconds(10))
				.checkpoints(this.earlier);

			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> database.acquireNow(SHARD, new Token(2)))
				.withMessageContaining("orders/0 still has 1 records in its outbox")
				.withMessageContaining("without 'transaction: jdbc'")
				.matches(StoreUnavailableException::isRefusal);

			this.earlier.acquireNow(SHARD, new Token(3));
			commit(new Token(3), 1,
					new Outbox.Changes(1, entry.place(), Map.of(), List.of(), List.of(entry.place()), false));
			assertThat(database.acquireNow(SHARD, new Token(4))).isInstanceOfSatisfying(Acquisition.Acquired.class,
					(acquired) -> assertThat(acquired.checkpoint().offset()).isEqualTo(new Offset("5")));
			database.close();
		}
	}

	private void commit(Token token, long number, Outbox.Changes changes) {
		assertThat(this.earlier
			.commit(SHARD, token,
					Commit.of(CommitNumber.ofWhole(number), new Offset("5"), Map.of()).withOutbox(changes))
			.join()).isEqualTo(CheckpointStore.CommitReply.COMMITTED);
	}

}
