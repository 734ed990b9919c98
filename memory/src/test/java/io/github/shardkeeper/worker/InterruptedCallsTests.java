package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that keep their interruption for their caller and return, as one is taught:
 * their work is not done, and nothing of it counts.
 */
@Promise("Nothing lost")
class InterruptedCallsTests {

	private static final Duration MORE_THAN_THE_LEASE = Duration.ofDays(2);

	private final List<String> calls = new ArrayList<>();

	/** Action of the first call that is not a revocation callback. */
	private Runnable first = () -> {
	};

	/** Actions of the revocation callbacks, in order. */
	private final List<Runnable> farewells = new ArrayList<>();

	private ConsumingShard shard;

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void interruptedRecordIsHandledAgainWhenTheSessionResumes(Ordering ordering) {
		consume(new Records(), new TestSettings().ordering(ordering, 8));
		this.first = this::leaseEnds;
		this.shard.deliver(1, 1);
		assertThat(this.calls).containsExactly("r1");
		assertThat(this.shard.worker().problem()).isNull();
		resume();

		assertThat(this.calls).containsExactly("r1", "r1");
		assertDone("1", 1);
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void interruptedRecordIsHandledAgainEvenIfTheLeaseIsHeldAtItsReturn(Ordering ordering) {
		consume(new Records(), new TestSettings().ordering(ordering, 8));
		this.first = this.shard::interruptCalls;
		this.shard.deliver(1, 2);

		assertThat(this.calls).containsExactlyInAnyOrder("r1", "r1", "r2");
		assertDone("2", 2);
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void callFromBeforeTheEndIsInterruptedAfterTheRenewal(Ordering ordering) {
		consume(new Records(), new TestSettings().ordering(ordering, 8));
		this.first = () -> {
			this.shard.clock().advance(MORE_THAN_THE_LEASE);
			this.shard.renewLease();
			this.shard.worker().suspend();
		};
		this.shard.deliver(1, 1);

		assertThat(this.calls).containsExactly("r1", "r1");
		assertDone("1", 1);
	}

	/** As in a process that was stopped, and notices the end after the renewal. */
	@ParameterizedTest
	@EnumSource(Ordering.class)
	void callFromAfterTheRenewalIsNotInterrupted(Ordering ordering) {
		consume(new Records(), new TestSettings().ordering(ordering, 8));
		this.first = () -> this.shard.worker().suspend();
		this.shard.clock().advance(MORE_THAN_THE_LEASE);
		this.shard.renewLease();
		this.shard.deliver(1, 1);

		assertThat(this.calls).containsExactly("r1");
		assertDone("1", 1);
	}

	@Test
	void interruptedListIsHandledAgain() {
		consume(new Lists(), new TestSettings());
		this.first = this::leaseEnds;
		this.shard.deliver(1, 3);
		resume();

		assertThat(this.calls).containsExactly("[r1, r2, r3]", "[r1, r2, r3]");
		assertDone("3", 3);
	}

	@Test
	void interruptedLoopIsCalledAgainAtOnce() {
		this.first = this::leaseEnds;
		consume(new Looping(), new TestSettings());
		assertThat(this.calls).containsExactly("loop");
		resume();

		assertThat(this.calls).containsExactly("loop", "loop");
		this.shard.pass(Duration.ofSeconds(5));
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "1"));
	}

	/**
	 * Though it was acknowledged before the interruption: its state counts only whole.
	 */
	@Test
	void interruptedManualRecordIsHandledAgain() {
		consume(new ByHand(), new TestSettings().commits(CommitMode.MANUAL, Duration.ofSeconds(5), 1000));
		this.first = this::leaseEnds;
		this.shard.deliver(1, 1);
		this.shard.pass(Duration.ofSeconds(5));
		assertThat(this.shard.checkpoint().offset()).isNull();
		resume();

		assertThat(this.calls).containsExactly("r1", "r1");
		assertDone("1", 1);
	}

	@Test
	void interruptedAssignedCallbackIsCalledAgain() {
		this.first = this::leaseEnds;
		consume(new Announced(), new TestSettings());
		assertThat(this.calls).containsExactly("assigned");
		resume();

		assertThat(this.calls).containsExactly("assigned", "assigned");
		assertThat(this.shard.reader().calls()).containsExactly("start after null");
	}

	@Test
	void recordInterruptedByAnOverdueDrainIsLeftToTheNextOwner() {
		consume(new Records(), new TestSettings());
		this.first = () -> {
			this.shard.worker().drain();
			this.shard.worker().interrupt(Duration.ofSeconds(50));
		};
		this.shard.deliver(1, 2);

		assertThat(this.calls).containsExactly("r1", "revoked");
		assertThat(this.shard.ended()).containsExactly("released");
		assertThat(this.shard.checkpoint().offset()).isNull();
		this.shard.restart();
		this.shard.deliver(1, 2);
		assertDone("2", 2);
	}

	@Test
	void recordOfALostShardIsLeftToTheNextOwner() {
		consume(new Records(), new TestSettings());
		this.first = () -> this.shard.worker().abandon();
		this.shard.deliver(1, 1);

		assertThat(this.shard.worker().ended()).isDone();
		assertThat(this.shard.checkpoint().offset()).isNull();
	}

	@Test
	void handlerThatInterruptsItselfHasSucceeded() {
		consume(new Records(), new TestSettings());
		this.first = () -> Thread.currentThread().interrupt();
		this.shard.deliver(1, 2);

		assertThat(this.calls).containsExactly("r1", "r2");
	}

	@Test
	void revocationCallbackIsRepeatedWhenTheLeaseIsHeldAgain() {
		consume(new Records(), new TestSettings());
		this.shard.deliver(1, 1);
		this.farewells.add(this::leaseEnds);
		this.shard.worker().drain();
		this.shard.run();
		this.shard.worker().wake();
		this.shard.run();
		assertThat(this.calls).as("not without the lease").containsExactly("r1", "revoked");
		assertThat(this.shard.ended()).isEmpty();
		resume();

		assertThat(this.calls).containsExactly("r1", "revoked", "revoked");
		assertThat(this.shard.ended()).containsExactly("released");
		assertThat(this.shard.checkpoint().state()).as("once").containsEntry("farewells", "1");
	}

	@Test
	void overdueRevocationCallbackIsRepeatedOnce() {
		consume(new Records(), new TestSettings());
		this.shard.deliver(1, 1);
		Runnable overdue = () -> this.shard.worker().interrupt(Duration.ofSeconds(50));
		this.farewells.addAll(List.of(overdue, overdue));
		this.shard.worker().drain();
		this.shard.run();

		assertThat(this.calls).containsExactly("r1", "revoked", "revoked");
		assertThat(this.shard.ended()).containsExactly("released");
		assertThat(this.shard.checkpoint().state()).as("neither was done").doesNotContainKey("farewells");
	}

	@Test
	void revocationCallbackIsNotRepeatedForALostShard() {
		consume(new Records(), new TestSettings());
		this.shard.deliver(1, 1);
		this.farewells.add(this::leaseEnds);
		this.shard.worker().drain();
		this.shard.run();
		this.shard.worker().abandon();
		this.shard.run();

		assertThat(this.calls).containsExactly("r1", "revoked");
		assertThat(this.shard.worker().ended()).isDone();
	}

	private void consume(Object bean, TestSettings settings) {
		this.shard = new ConsumingShard(bean, settings, (created) -> this.shard = created);
	}

	/** The lease ends while a call runs, which is interrupted. */
	private void leaseEnds() {
		this.shard.clock().advance(MORE_THAN_THE_LEASE);
		this.shard.worker().suspend();
	}

	/** A heartbeat is answered again, and the session is known. */
	private void resume() {
		this.shard.renewLease();
		this.shard.worker().wake();
		this.shard.run();
	}

	private void assertDone(String offset, int count) {
		this.shard.pass(Duration.ofSeconds(5));
		assertThat(this.shard.checkpoint().offset()).isEqualTo(new Offset(offset));
		assertThat(this.shard.checkpoint().state()).containsEntry("count", Integer.toString(count));
	}

	/** Half of the work; tells whether the other half is to be done. */
	private boolean begin(String call) {
		this.calls.add(call);
		Runnable now = this.first;
		this.first = () -> {
		};
		now.run();
		try {
			Thread.sleep(0);
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/** Bean of the application. */
	final class Records {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			state.increment("begun", 1);
			if (begin(payload)) {
				state.increment("count", 1);
			}
		}

		@OnShardRevoked
		void revoked(ShardState state) {
			state.increment("farewells", 1);
			InterruptedCallsTests.this.calls.add("revoked");
			if (!InterruptedCallsTests.this.farewells.isEmpty()) {
				InterruptedCallsTests.this.farewells.remove(0).run();
			}
		}

	}

	/** With lists. */
	final class Lists {

		@ShardConsumer("orders")
		void handle(List<String> payloads, ShardState state) {
			if (begin(payloads.toString())) {
				state.increment("count", payloads.size());
			}
		}

	}

	/** Without records. */
	final class Looping {

		@ShardConsumer(value = "orders", interval = "10s")
		void poll(ShardState state) {
			if (begin("loop")) {
				state.increment("count", 1);
			}
		}

	}

	/** With an acknowledgment that comes too early. */
	final class ByHand {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state, Acknowledgment acknowledgment) {
			acknowledgment.acknowledge();
			if (begin(payload)) {
				state.increment("count", 1);
			}
		}

	}

	/** With something to do before the first record. */
	final class Announced {

		@ShardConsumer("orders")
		void handle(String payload) {
			InterruptedCallsTests.this.calls.add(payload);
		}

		@OnShardAssigned
		void assigned() {
			begin("assigned");
		}

	}

}
