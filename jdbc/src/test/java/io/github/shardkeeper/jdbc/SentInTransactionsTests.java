package io.github.shardkeeper.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Outbox.Place;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Records that calls send in their transactions. The outbox has those of committed calls,
 * and no number twice.
 */
@MoreInProof
@Promise("Records exactly once")
class SentInTransactionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId TARGET = ShardId.of("invoices", 0);

	private static final Token OLD = new Token(7);

	private static final Token NEW = new Token(8);

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
	void recordsAreInTheOutboxOnceTheTransactionIsCommitted(TestDatabase kind) {
		open(kind.create());
		Acquired acquired = acquire(OLD);
		Result result = call(OLD, commit(acquired, 1, 0, added(OLD, 1)), () -> assertThat(payloads()).isEmpty());

		assertThat(result).isInstanceOf(Result.Committed.class);
		assertThat(payloads()).containsExactly("record 1 under 7");
		assertThat(acquire(NEW).outbox()).isEqualTo(new Outbox(7, new Place(7, 1), Map.of(TARGET, 1L), 1));
	}

	@EveryDatabase
	void callThatFailsLeavesNothing(TestDatabase kind) {
		open(kind.create());
		Acquired acquired = acquire(OLD);
		Result result = call(OLD, commit(acquired, 1, 0, added(OLD, 1)), () -> {
			throw new IllegalStateException("caused by the test");
		});

		assertThat(result).isInstanceOf(Result.Failed.class);
		assertThat(payloads()).isEmpty();
		assertThat(acquire(OLD).outbox()).isEqualTo(Outbox.EMPTY);
	}

	@ParameterizedTest
	@ArgumentsSource(IsolationLevels.class)
	void earlierOwnerAddsNothingAfterTheAcquisition(TestDatabase kind, String isolation) {
		open(kind.create(isolation));
		Acquired old = acquire(OLD);
		Result result = call(OLD, commit(old, 1, 0, added(OLD, 1)), () -> acquire(NEW));

		assertThat(result).isInstanceOfAny(Result.Stale.class, Result.Unavailable.class);
		assertThat(payloads()).isEmpty();
		assertThat(acquire(NEW).outbox()).isEqualTo(Outbox.EMPTY);
	}

	/**
	 * Both were counted from the same commit, so both records have the same number. The
	 * target would drop the second one.
	 */
	@ParameterizedTest
	@ArgumentsSource(IsolationLevels.class)
	void ofTwoTransactionsWithTheSameNumberOneIsCommitted(TestDatabase kind, String isolation) throws Exception {
		open(kind.create(isolation));
		Acquired acquired = acquire(OLD);
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<Result> first = CompletableFuture
			.supplyAsync(() -> call(OLD, commit(acquired, 1, 0, added(OLD, 1, "first")), () -> {
				begun.countDown();
				Latches.await(goOn);
			}));
		Latches.await(begun);
		Result second = call(OLD, commit(acquired, 2, 0, added(OLD, 1, "second")), () -> {
		});
		assertThat(this.store
			.commit(SHARD, OLD,
					commit(acquired, 3, 2,
							new Outbox.Changes(7, new Place(7, 1), Map.of(), List.of(), List.of(new Place(7, 1)),
									false)))
			.join()).as("it was forwarded").isEqualTo(CommitReply.COMMITTED);
		goOn.countDown();

		assertThat(second).isInstanceOf(Result.Committed.class);
		assertThat(first.get(60, TimeUnit.SECONDS)).isInstanceOfAny(Result.Stale.class, Result.Unavailable.class);
		assertThat(payloads()).isEmpty();
		assertThat(acquire(NEW).outbox().numbers()).containsEntry(TARGET, 1L);
	}

	/** It was abandoned while its commit was on its way. */
	@EveryDatabase
	void lateCommitOfAnEarlierWorkerUnderTheSameTokenFencesTheNextOne(TestDatabase kind) {
		open(kind.create());
		Acquired before = acquire(OLD);
		assertThat(call(OLD, commit(before, 1, 0, added(OLD, 1)), () -> {
		})).isInstanceOf(Result.Committed.class);
		Acquired next = acquire(OLD);
		assertThat(next.outbox().numbers()).containsEntry(TARGET, 1L);

		assertThat(call(OLD, commit(before, 2, 1, added(OLD, 2, "late")), () -> {
		})).isInstanceOf(Result.Committed.class);

		assertThat(this.store.commit(SHARD, OLD, commit(next, 1001, 1, Outbox.Changes.NONE)).join())
			.isEqualTo(CommitReply.STALE);
		assertThat(call(OLD, commit(next, 1002, 1, added(OLD, 2, "same number")), () -> {
		})).isInstanceOf(Result.Stale.class);
		assertThat(payloads()).containsExactly("record 1 under 7", "late");
		assertThat(acquire(OLD).outbox().numbers()).containsEntry(TARGET, 2L);
	}

	@Test
	void commitWithoutBasisAddsNothing() {
		open(TestDatabase.H2.create());
		Acquired before = acquire(OLD);
		call(OLD, commit(before, 1, 0, added(OLD, 1)), () -> {
		});

		assertThat(this.store.commit(SHARD, OLD, commit(before, 2, 0, added(OLD, 1, "same number"))).join())
			.isEqualTo(CommitReply.STALE);
	}

	@Test
	void eraStaysWhenNothingIsLeft() {
		open(TestDatabase.H2.create());
		Acquired acquired = acquire(OLD);
		call(OLD, commit(acquired, 1, 0, added(OLD, 1)), () -> {
		});
		this.store
			.commit(SHARD, OLD,
					commit(acquired, 2, 1,
							new Outbox.Changes(9, new Place(7, 1), Map.of(), List.of(), List.of(), true)))
			.join();

		assertThat(acquire(NEW).outbox()).isEqualTo(new Outbox(9, new Place(7, 1), Map.of(), 0));
	}

	/** As after an update from a version without them. */
	@EveryDatabase
	void missingTablesAreNamedIfTheyAreNeeded(TestDatabase kind) {
		open(kind.create());
		this.server.jdbc().execute("drop table shardkeeper_sequence");
		Acquired acquired = acquire(OLD);
		assertThat(acquired.outbox()).isEqualTo(Outbox.EMPTY);
		assertThat(call(OLD, commit(acquired, 1, 0, Outbox.Changes.NONE), () -> {
		})).isInstanceOf(Result.Committed.class);

		assertThat(this.store.countOutbox(SHARD)).isNull();
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.store.keepsOutboxes("orders"))
			.withMessageContaining("'orders' takes a ShardOutput, but the database has no table 'shardkeeper_sequence'")
			.withMessageContaining("schema-%s.sql in shardkeeper-jdbc".formatted(kind.scriptName()));
		assertThat(call(OLD, commit(acquired, 2, 1, added(OLD, 1)), () -> {
		})).isInstanceOfSatisfying(Result.Unavailable.class,
				(unavailable) -> assertThat(unavailable.failure().getMessage())
					.contains("Create the tables with the script")
					.containsIgnoringCase("shardkeeper_sequence"));
		assertThat(this.store.remove("orders", NEW).removed()).containsExactly(SHARD);
	}

	private Acquired acquire(Token token) {
		return (Acquired) this.store.acquireNow(SHARD, token);
	}

	private Result call(Token token, Commit commit, Runnable handler) {
		return this.store.transactions(SHARD.topic()).call(SHARD, token, new TestCall(handler, commit));
	}

	private static Commit commit(Acquired acquired, long attempt, long acknowledged, Outbox.Changes changes) {
		return new Commit(new CommitNumber(attempt, acknowledged, acquired.acquisition()), new Offset("5"), Set.of(),
				Map.of(), List.of(), Set.of(), List.of())
			.withOutbox(changes);
	}

	private static Outbox.Changes added(Token token, long number) {
		return added(token, number, "record %d under %d".formatted(number, token.value()));
	}

	private static Outbox.Changes added(Token token, long number, String payload) {
		Place place = new Place(token.value(), number);
		return new Outbox.Changes(OLD.value(), place, Map.of(TARGET, number), List.of(new Outbox.Entry(place,
				OLD.value(), TARGET, number, "key", payload.getBytes(StandardCharsets.UTF_8), Map.of())), List.of(),
				false);
	}

	private List<String> payloads() {
		return this.store.outbox(SHARD, null, 10, 1_000_000)
			.stream()
			.map((entry) -> new String(entry.payload(), StandardCharsets.UTF_8))
			.toList();
	}

}
