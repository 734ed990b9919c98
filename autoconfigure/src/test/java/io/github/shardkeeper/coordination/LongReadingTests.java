package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.HandoverRules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A group so large, or a store so slow, that reading it takes longer than a lease.
 */
class LongReadingTests {

	private static final int STEPS = 40;

	private static final Duration STEP = TestInstance.LEASE.dividedBy(10);

	private final MemoryCoordinationStore memory = new MemoryCoordinationStore();

	private final CountDownLatch never = new CountDownLatch(1);

	private TestInstance instance;

	@AfterEach
	void close() {
		this.never.countDown();
		this.instance.kill();
	}

	@Test
	void whoGetsAnswersLeadsOn() {
		start(true);

		Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> this.instance.consumption.consumed().size() == 4);

		assertThat(this.memory.changes(0, -1).epoch()).isEqualTo(1);
	}

	@Test
	void whoGetsNoneResigns() {
		start(false);

		Awaitility.await()
			.pollInterval(Duration.ofMillis(2))
			.atMost(Duration.ofSeconds(20))
			.until(() -> this.memory.changes(0, -1).epoch() == 1 && this.memory.changes(0, -1).leader() == null);
	}

	private void start(boolean answered) {
		this.instance = new TestInstance("a", new ForwardingStore(this.memory) {

			@Override
			public GroupChanges changes(long afterGeneration, long seenMembership, Runnable onStep) {
				if (afterGeneration == 0) {
					for (int i = 0; i < STEPS; i++) {
						takeAWhile();
						if (answered) {
							onStep.run();
						}
					}
				}
				return super.changes(afterGeneration, seenMembership, onStep);
			}

		}, new TestConsumption.Ledger(), HandoverRules.DEFAULT);
		this.instance.start();
	}

	private void takeAWhile() {
		try {
			this.never.await(STEP.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
