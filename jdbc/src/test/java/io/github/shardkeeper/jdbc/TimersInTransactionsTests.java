package io.github.shardkeeper.jdbc;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Timers that calls set and remove in their transactions: those of committed calls are
 * there, and no others.
 */
@MoreInProof
@Promise("State exactly once")
class TimersInTransactionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token OLD = new Token(7);

	private static final Token NEW = new Token(8);

	private static final TimerId FIRST = new TimerId("ann", "first");

	private static final TimerId SECOND = new TimerId("ann", "second");

	private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

	private DatabaseServer server;

	private CheckpointStore store;

	private void open(HikariDataSource pool) {
		this.server = new DatabaseServer(pool);
		this.store = this.server.store();
	}

	@AfterEach
	void close() {
		// Not if the database is not on this machine.
		if (this.store != null) {
			this.store.close();
			this.server.close();
		}
	}

	@EveryDatabase
	void timersAreThereOnceTheTransactionIsCommitted(TestDatabase kind) {
		open(kind.create());
		Acquired acquired = acquire(OLD);
		Result result = call(commit(acquired, 1, 0, Map.of(FIRST, NOON)), () -> assertThat(timers()).isEmpty());
		assertThat(result).isInstanceOf(Result.Committed.class);
		assertThat(timers()).containsExactly(new StoredTimer(FIRST, NOON));

		Map<TimerId, @Nullable Instant> changes = new HashMap<>();
		changes.put(FIRST, null);
		changes.put(SECOND, NOON);
		assertThat(call(commit(acquired, 2, 1, changes), () -> {
		})).isInstanceOf(Result.Committed.class);
		assertThat(timers()).containsExactly(new StoredTimer(SECOND, NOON));
	}

	@EveryDatabase
	void callThatFailsLeavesThemAsTheyWere(TestDatabase kind) {
		open(kind.create());
		Acquired acquired = acquire(OLD);
		call(commit(acquired, 1, 0, Map.of(FIRST, NOON)), () -> {
		});
		Result result = call(commit(acquired, 2, 1, Map.of(FIRST, NOON.plusSeconds(1), SECOND, NOON)), () -> {
			throw new IllegalStateException("caused by the test");
		});

		assertThat(result).isInstanceOf(Result.Failed.class);
		assertThat(timers()).containsExactly(new StoredTimer(FIRST, NOON));
	}

	@EveryDatabase
	void earlierOwnerSetsNothingAfterTheAcquisition(TestDatabase kind) {
		open(kind.create());
		Acquired old = acquire(OLD);
		Result result = call(commit(old, 1, 0, Map.of(FIRST, NOON)), () -> acquire(NEW));

		assertThat(result).isInstanceOfAny(Result.Stale.class, Result.Unavailable.class);
		assertThat(timers()).isEmpty();
	}

	private Acquired acquire(Token token) {
		return (Acquired) this.store.acquireNow(SHARD, token);
	}

	private Result call(Commit commit, Runnable handler) {
		return this.store.transactions(SHARD.topic()).call(SHARD, OLD, new TestCall(handler, commit));
	}

	private List<StoredTimer> timers() {
		return this.store.timers(SHARD, null, 10);
	}

	private static Commit commit(Acquired acquired, long attempt, long acknowledged,
			Map<TimerId, @Nullable Instant> timers) {
		return Commit.of(new CommitNumber(attempt, acknowledged, acquired.acquisition()), new Offset("5"), Map.of())
			.withTimers(timers);
	}

}
