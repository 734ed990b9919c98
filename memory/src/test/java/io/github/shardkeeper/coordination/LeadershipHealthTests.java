package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Leaders whose decisions fail. Each test names issues of other products. Here the
 * assignment strategy fails, which an application can replace.
 */
@Tag("proof")
class LeadershipHealthTests {

	private static final AssignmentStrategy STICKY = new StickyAssignment();

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	private final CountDownLatch ended = new CountDownLatch(1);

	@AfterEach
	void closeAll() {
		this.ended.countDown();
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	/**
	 * amazon-kinesis-client#1669: every pass of the leader ends with an Error, and it
	 * keeps leading without deciding anything. Here a leader that decides nothing for a
	 * lease resigns, and stays a member.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void failingLeaderIsReplaced(boolean error) {
		AtomicInteger attempts = new AtomicInteger();
		TestInstance a = start("a", (request) -> {
			attempts.incrementAndGet();
			if (error) {
				throw new NoClassDefFoundError("caused by the test");
			}
			throw new IllegalStateException("caused by the test");
		});
		await().until(() -> attempts.get() > 0);
		TestInstance b = start("b", STICKY);

		await().until(b.coordinator::isLeader);
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
	}

	/**
	 * azure-sdk-for-java#39367: the load balancer hangs silently, and no instance
	 * consumes some partitions. Here a hanging strategy blocks nothing and is reported,
	 * and another member leads after a lease.
	 */
	@Test
	void leaderWithAHangingStrategyIsReplacedAndKeepsConsuming() {
		CountDownLatch hangs = new CountDownLatch(1);
		TestInstance a = start("a", (request) -> {
			hangs.countDown();
			awaitUninterruptibly(this.ended);
			return STICKY.assign(request);
		});
		await().until(() -> hangs.getCount() == 0);
		awaitConsumed(a, 4);
		TestInstance b = start("b", STICKY);

		await().until(b.coordinator::isLeader);
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
	}

	/**
	 * amazon-kinesis-client#202: with a limit of leases per worker some shards silently
	 * have no owner. Here a reply without some shards is refused, these shards are
	 * assigned nevertheless, and the leader reports the problem.
	 */
	@Test
	void unassignedShardsAreConsumedAndReported() {
		TestInstance a = start("a", (request) -> Assignment.builder(request).build());

		awaitConsumed(a, 4);
		await().untilAsserted(() -> assertThat(a.coordinator.groupProblems()).singleElement().satisfies((problem) -> {
			assertThat(problem.kind()).isEqualTo("assignment");
			assertThat(problem.problem()).contains("leaves 4 consumed shards without an owner", "Correct it");
		}));
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		boolean done = false;
		while (!done) {
			try {
				latch.await();
				done = true;
			}
			catch (InterruptedException ex) {
				// The strategy of this test heeds nothing.
			}
		}
	}

	private TestInstance start(String name, AssignmentStrategy strategy) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT,
				new AssignmentSettings("own", strategy, ShardCatalog.PLAIN, true, Duration.ofMillis(100)));
		this.instances.add(instance);
		return instance.start();
	}

	/** Polls often: most conditions hold within milliseconds. */
	private static ConditionFactory await() {
		return Awaitility.await().pollInterval(Duration.ofMillis(2));
	}

	private static void awaitConsumed(TestInstance instance, int shards) {
		await().untilAsserted(() -> assertThat(instance.consumption.consumed()).hasSize(shards));
	}

}
