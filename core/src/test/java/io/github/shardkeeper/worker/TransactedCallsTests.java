package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.worker.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls in transactions that contain the commits of their records: the rows of the
 * handler are always those of the records up to the offset.
 */
class TransactedCallsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Booking bean = new Booking();

	private Transactions transactions;

	@Test
	void offsetAndStateAreCommittedWithEachCall() {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 3);

		assertThat(this.transactions.rows).containsExactly("r1", "r2", "r3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "3");
		assertThat(shard.checkpoints().sent()).as("no commit of its own").isEmpty();
		shard.pass(SECOND.multipliedBy(10));
		assertThat(shard.checkpoints().sent()).isEmpty();
	}

	@Test
	void failedAttemptsLeaveNothing() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(3));
		this.bean.failing.add("r2");
		shard.deliver(1, 3);
		shard.pass(Duration.ofMillis(200));
		shard.pass(Duration.ofMillis(400));

		assertThat(this.bean.calls).containsExactly("r1", "r2", "r2", "r2", "r3");
		assertThat(this.transactions.rows).containsExactly("r1", "r3");
		assertThat(shard.deadLetters()).containsExactly("2 after 3");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("3"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "2");
	}

	@Test
	void nextCallWaitsUntilADeadLetterIsCommitted() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.bean.failing.add("r1");
		shard.checkpoints().holdAnswers();
		shard.deliver(1, 2);
		assertThat(this.bean.calls).containsExactly("r1");

		shard.checkpoints().answerAll();
		shard.run();
		assertThat(this.transactions.rows).containsExactly("r2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void recordOfTheRetryQueueIsRemovedWithItsCall() {
		ConsumingShard shard = consume(
				new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND, SECOND));
		this.bean.failing.add("r1");
		shard.deliver(1, 2);
		assertThat(shard.retries()).isOne();
		this.bean.failing.clear();
		shard.pass(SECOND);

		assertThat(this.transactions.rows).containsExactly("r2", "r1");
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
	}

	@Test
	void recordsThatWaitForOneOfTheirKeyAreCommittedBeforeTheNextCall() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1).onFailure(OnFailure.PARK_KEY, SECOND));
		this.bean.failing.add("a1");
		shard.offer(1, "a", "a1");
		shard.offer(2, "a", "a2");
		shard.offer(3, "b", "b3");
		shard.offer(4, "a", "a4");
		shard.offer(5, "b", "b5");
		shard.run();
		assertThat(this.transactions.rows).containsExactly("b3", "b5");
		assertThat(shard.retries()).isEqualTo(3);
		this.bean.failing.clear();
		shard.restart();
		shard.pass(SECOND);

		assertThat(this.transactions.rows).containsExactly("b3", "b5", "a1", "a2", "a4");
		assertThat(shard.retries()).isZero();
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("5"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "5");
	}

	@Test
	void unavailableDatabaseCostsNoAttempt() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.UNAVAILABLE;
		shard.deliver(1, 1);
		assertThat(shard.worker().problem()).asString().contains("the database is away");
		this.transactions.next = Outcome.COMMITTED;
		shard.pass(SECOND);

		assertThat(shard.worker().problem()).isNull();
		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void committedTransactionWithoutAnAnswerIsNotRepeated() {
		ConsumingShard shard = consume(new TestSettings());
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		shard.checkpoints().setAway(true);
		shard.deliver(1, 1);
		assertThat(shard.worker().problem()).as("not known yet").isNotNull();
		this.transactions.next = Outcome.COMMITTED;
		shard.checkpoints().setAway(false);
		shard.pass(SECOND);
		shard.deliver(2, 2);

		assertThat(this.bean.calls).containsExactly("r1", "r2");
		assertThat(this.transactions.rows).containsExactly("r1", "r2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(shard.checkpoint().state()).containsEntry("count", "2");
	}

	@Test
	void lostTransactionWithoutAnAnswerIsRepeated() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.LOST_WITHOUT_ANSWER;
		shard.deliver(1, 1);
		this.transactions.next = Outcome.COMMITTED;
		shard.pass(SECOND);

		assertThat(this.bean.calls).containsExactly("r1", "r1");
		assertThat(this.transactions.rows).containsExactly("r1");
		assertThat(shard.deadLetters()).isEmpty();
	}

	/** For example because of a constraint that is checked at the end. */
	@Test
	void transactionThatTheDatabaseRefusesAtItsEndIsAFailure() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		this.transactions.next = Outcome.REFUSED_AT_ITS_END;
		shard.deliver(1, 1);

		assertThat(shard.deadLetters()).containsExactly("1 after 1");
		assertThat(this.transactions.rows).isEmpty();
	}

	@Test
	void fencedTransactionEndsTheWorker() {
		ConsumingShard shard = consume(new TestSettings());
		shard.checkpoints().acquireNow(ConsumingShard.SHARD, new Token(99));
		shard.deliver(1, 1);

		assertThat(this.transactions.rows).isEmpty();
		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.worker().ended()).isDone();
	}

	@Test
	void abandonedWorkerEndsThoughItIsNotKnownWhatBecameOfItsCall() {
		ConsumingShard shard = consume(new TestSettings());
		this.transactions.next = Outcome.COMMITTED_WITHOUT_ANSWER;
		shard.checkpoints().setAway(true);
		shard.deliver(1, 1);

		shard.worker().abandon();
		shard.run();
		assertThat(shard.worker().ended()).isDone();
	}

	@Test
	void storeThatHasLostTheShardEndsTheWorker() {
		ConsumingShard shard = consume(new TestSettings().maxAttempts(1));
		shard.deliver(1, 1);
		shard.checkpoints().empty();
		this.bean.failing.add("r2");
		shard.deliver(2, 2);

		assertThat(shard.ended()).as("what the database says counts").containsExactly("released");
		assertThat(shard.checkpoint().offset()).isNull();
	}

	@Test
	void nextOwnerContinuesWhereTheRowsEnd() {
		ConsumingShard shard = consume(new TestSettings());
		shard.deliver(1, 2);
		shard.worker().drain();
		shard.run();
		shard.restart();
		shard.deliver(3, 4);

		assertThat(this.transactions.rows).containsExactly("r1", "r2", "r3", "r4");
		assertThat(shard.checkpoint().state()).containsEntry("count", "4");
	}

	@Test
	void batchIsOneTransactionAndItsUnreadableRecordIsHandledAlone() {
		BatchBooking batch = new BatchBooking();
		ConsumingShard shard = consume(batch, new TestSettings().maxAttempts(1).batchSize(10));
		for (int i = 1; i <= 4; i++) {
			shard.offer(i, "k", (i == 3) ? "{" : Integer.toString(i));
		}
		shard.run();

		assertThat(this.transactions.rows).containsExactly("1", "2", "4");
		assertThat(shard.deadLetters()).hasSize(1);
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("4"));
		shard.offer(5, "k", "5");
		shard.offer(6, "k", "6");
		shard.run();
		assertThat(batch.sizes).contains(2);
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("6"));
	}

	@ParameterizedTest
	@EnumSource(value = Ordering.class, names = "SHARD", mode = EnumSource.Mode.EXCLUDE)
	void orderingWithConcurrentCallsIsRefused(Ordering ordering) {
		assertThatThrownBy(() -> check(new TestSettings().ordering(ordering, 8))).hasMessageContaining("ordering")
			.hasMessageContaining("'consumer.transaction' is 'jdbc'");
	}

	@Test
	void manualAcknowledgmentIsRefused() {
		assertThatThrownBy(() -> check(new TestSettings().commits(CommitMode.MANUAL, SECOND, 10)))
			.hasMessageContaining("'manual'")
			.hasMessageContaining("the transaction ends with the call");
	}

	private void check(TestSettings settings) {
		settings.get().checkTransacted(consume(new TestSettings()).handler());
	}

	private ConsumingShard consume(TestSettings settings) {
		return consume(this.bean, settings);
	}

	private ConsumingShard consume(Object handler, TestSettings settings) {
		return new ConsumingShard(handler, settings, (created) -> {
			this.transactions = new Transactions(created.checkpoints());
			created.checkpoints().transact(this.transactions);
			this.bean.transactions = this.transactions;
			if (handler instanceof BatchBooking batch) {
				batch.transactions = this.transactions;
			}
		});
	}

	static class Booking {

		private final List<String> calls = new ArrayList<>();

		private final Set<String> failing = new HashSet<>();

		private Transactions transactions;

		@ShardConsumer("orders")
		void book(byte[] payload, ShardState state) {
			String record = new String(payload);
			this.calls.add(record);
			this.transactions.open.add(record);
			state.increment("count", 1);
			if (this.failing.contains(record)) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	static class BatchBooking {

		private final List<Integer> sizes = new ArrayList<>();

		private Transactions transactions;

		@ShardConsumer("orders")
		void book(List<Integer> records) {
			this.sizes.add(records.size());
			records.forEach((record) -> this.transactions.open.add(Integer.toString(record)));
		}

	}

	enum Outcome {

		COMMITTED, UNAVAILABLE, COMMITTED_WITHOUT_ANSWER, LOST_WITHOUT_ANSWER, REFUSED_AT_ITS_END

	}

	/** Transactions of a database with the rows of the handlers, and with checkpoints. */
	private static final class Transactions implements CallTransactions {

		private final FaultyCheckpoints checkpoints;

		private final List<String> open = new ArrayList<>();

		private final List<String> rows = new ArrayList<>();

		private Outcome next = Outcome.COMMITTED;

		Transactions(FaultyCheckpoints checkpoints) {
			this.checkpoints = checkpoints;
		}

		@Override
		public Result call(ShardId shard, Token token, Call call) {
			this.open.clear();
			StoreUnavailableException away = new StoreUnavailableException("the database is away", null);
			if (this.next == Outcome.UNAVAILABLE) {
				return new Result.Unavailable(away);
			}
			Commit commit;
			try {
				commit = call.run();
			}
			catch (Throwable ex) {
				return new Result.Failed(ex);
			}
			if (this.next == Outcome.LOST_WITHOUT_ANSWER) {
				return new Result.Unknown(away, away);
			}
			if (this.next == Outcome.REFUSED_AT_ITS_END) {
				return new Result.Unknown(new IllegalStateException("refused"), null);
			}
			boolean follows = this.checkpoints.store().commits(shard).last().number() == commit.number().acknowledged();
			if (!follows || this.checkpoints.store().commit(shard, token, commit).join() != CommitReply.COMMITTED) {
				return new Result.Stale();
			}
			this.rows.addAll(this.open);
			return (this.next == Outcome.COMMITTED) ? new Result.Committed() : new Result.Unknown(away, away);
		}

	}

}
