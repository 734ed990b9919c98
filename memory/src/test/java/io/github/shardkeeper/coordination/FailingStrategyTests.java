package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application's strategy that works, fails and works again. All instances have the
 * same one, so another leader does not help.
 */
@CapturesOutput
@Tag("proof")
@Promise("Automatic recovery")
class FailingStrategyTests {

	private static final AssignmentStrategy STICKY = new StickyAssignment();

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	private final CountDownLatch ended = new CountDownLatch(1);

	private final AtomicInteger calls = new AtomicInteger();

	private volatile AssignmentStrategy strategy = STICKY;

	@AfterEach
	void closeAll() {
		this.ended.countDown();
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
		Awaitility.await()
			.untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
				.noneMatch((thread) -> thread.getName().equals("shardkeeper-assignment")));
	}

	@ParameterizedTest
	@EnumSource
	void assignmentsAreKeptAndFreeShardsPlacedUntilTheStrategyRecovers(Failure failure) {
		TestInstance a = start("a");
		TestInstance b = start("b");
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		Map<ShardId, Token> ofA = a.consumption.consumed();
		Map<ShardId, Token> ofB = b.consumption.consumed();

		this.strategy = failure;
		TestInstance c = start("c");
		await().untilAsserted(() -> assertThat(problem())
			.hasValueSatisfying((problem) -> assertThat(problem).contains("'own'", failure.text)
				.contains("Correct it", "shardkeeper.assignment.strategy", "Tried again")));
		assertThat(a.consumption.consumed()).isEqualTo(ofA);
		assertThat(b.consumption.consumed()).isEqualTo(ofB);
		assertThat(c.consumption.consumed()).isEmpty();

		b.kill();
		await().untilAsserted(() -> assertThat(c.consumption.consumed()).containsOnlyKeys(ofB.keySet()));
		assertThat(a.consumption.consumed()).isEqualTo(ofA);

		this.strategy = STICKY;
		TestInstance d = start("d");
		awaitConsumed(d, 1);
		await().untilAsserted(() -> assertThat(problem()).isEmpty());
	}

	@Test
	void callThatIgnoresInterruptionBlocksFurtherCalls() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		int callsBefore = this.calls.get();
		CountDownLatch returns = new CountDownLatch(1);
		CountDownLatch interrupted = new CountDownLatch(1);
		this.strategy = (request) -> {
			while (returns.getCount() > 0 && this.ended.getCount() > 0) {
				try {
					returns.await();
				}
				catch (InterruptedException ex) {
					interrupted.countDown();
				}
			}
			return STICKY.assign(request);
		};

		TestInstance b = start("b");
		await().until(() -> interrupted.getCount() == 0);
		await().untilAsserted(() -> assertThat(problem())
			.hasValueSatisfying((problem) -> assertThat(problem).contains("has not returned, it is at ")));
		assertThat(this.calls.get() - callsBefore).as("at most one call by each").isLessThanOrEqualTo(2);

		returns.countDown();
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		await().untilAsserted(() -> assertThat(problem()).isEmpty());
	}

	@Test
	void failureIsLoggedOnceAndTheOnlyMemberKeepsLeading(CapturedOutput log) {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		this.strategy = (request) -> {
			throw new IllegalStateException("caused by the test, for the " + this.calls + "th time");
		};
		int callsBefore = this.calls.get();
		TestInstance b = start("b");
		await().untilAsserted(() -> assertThat(problem()).isPresent());
		b.kill();
		await().until(() -> this.calls.get() - callsBefore >= 3);
		await().untilAsserted(() -> assertThat(this.store.readChanges(0, -1).members()).hasSize(1));
		long epoch = this.store.readChanges(0, -1).epoch();
		int callsAlone = this.calls.get();
		await().until(() -> this.calls.get() > callsAlone);

		assertThat(this.store.readChanges(0, -1).epoch()).isEqualTo(epoch);
		awaitConsumed(a, 4);
		assertThat(log.getAll().split("ERROR", -1)).as("once by each of the two at most").hasSizeLessThanOrEqualTo(3);
		assertThat(log).contains("throws java.lang.IllegalStateException: caused by the test", "\tat ",
				"What was assigned last stands");
	}

	@Test
	void leaderContinuesDuringTheCall() {
		CountDownLatch returns = new CountDownLatch(1);
		TestInstance a = new TestInstance("a", this.store, this.ledger, HandoverRules.DEFAULT,
				new AssignmentSettings("own", (request) -> {
					this.calls.incrementAndGet();
					awaitEither(returns);
					return STICKY.assign(request);
				}, ShardCatalog.PLAIN, true, Duration.ofSeconds(60)));
		this.instances.add(a);
		a.start();
		await().until(() -> this.calls.get() > 0);
		TestInstance b = start("b");
		b.kill();

		await().untilAsserted(() -> assertThat(this.store.readChanges(0, -1).members()).hasSize(1));
		assertThat(a.coordinator.isLeader()).isTrue();
		assertThat(a.consumption.consumed()).isEmpty();
		returns.countDown();
		awaitConsumed(a, 4);
	}

	@Test
	void onlyForeignCodeHasAThreadOfItsOwn() {
		List<String> threads = new ArrayList<>();
		AssignmentStrategy noting = (request) -> {
			threads.add(Thread.currentThread().getName());
			return STICKY.assign(request);
		};
		TestInstance builtIn = new TestInstance("a", new MemoryCoordinationStore(), this.ledger, HandoverRules.DEFAULT,
				AssignmentSettings.builtIn("noting", noting));
		this.instances.add(builtIn);
		builtIn.start();
		awaitConsumed(builtIn, 4);
		builtIn.kill();
		assertThat(threads).containsOnly("shardkeeper-coordinator");

		threads.clear();
		this.strategy = noting;
		awaitConsumed(start("b"), 4);
		assertThat(threads).containsOnly("shardkeeper-assignment");
	}

	@Test
	void leaderGivesTheReason() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		assertThat(a.coordinator.why(ShardId.of("orders", 0)))
			.hasValueSatisfying((why) -> assertThat(why).startsWith("orders/0 goes to a~"));
		assertThat(a.coordinator.why(ShardId.of("orders", 99))).isEmpty();

		TestInstance b = start("b");
		awaitConsumed(b, 2);
		ShardId moved = b.consumption.consumed().keySet().iterator().next();
		assertThat(a.coordinator.why(moved))
			.hasValueSatisfying((why) -> assertThat(why).startsWith(moved + " moves from a~").contains(" to b~"));
		assertThat(b.coordinator.why(moved)).isEmpty();
	}

	private Optional<String> problem() {
		return this.instances.stream()
			.flatMap((instance) -> instance.coordinator.groupProblems().stream())
			.map(ProblemReport::problem)
			.findAny();
	}

	private TestInstance start(String name) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT,
				new AssignmentSettings("own", (request) -> {
					this.calls.incrementAndGet();
					return this.strategy.assign(request);
				}, ShardCatalog.PLAIN, true, Duration.ofMillis(100)));
		this.instances.add(instance);
		return instance.start();
	}

	private void awaitEither(CountDownLatch latch) {
		while (latch.getCount() > 0 && this.ended.getCount() > 0) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				return;
			}
		}
	}

	/** Polls often: most conditions hold within milliseconds. */
	private static ConditionFactory await() {
		return Awaitility.await().pollInterval(Duration.ofMillis(2)).atMost(Duration.ofSeconds(20));
	}

	private static void awaitConsumed(TestInstance instance, int shards) {
		await().untilAsserted(() -> assertThat(instance.consumption.consumed()).hasSize(shards));
	}

	/** Faults of a reply. */
	private enum Failure implements AssignmentStrategy {

		THROWS("throws java.lang.IllegalStateException: caused by the test") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				throw new IllegalStateException("caused by the test");
			}
		},

		ERROR("throws java.lang.NoClassDefFoundError") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				throw new NoClassDefFoundError("caused by the test");
			}
		},

		OVERFLOW("throws java.lang.StackOverflowError") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				return assign(request);
			}
		},

		UNPRINTABLE("throws an exception whose toString() fails") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				throw new IllegalStateException() {
					@Override
					public String toString() {
						throw new UnsupportedOperationException("caused by the test");
					}
				};
			}
		},

		NULL("returns null") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				return null;
			}
		},

		OTHER_REQUEST("another request") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				return STICKY.assign(AssignmentRequest.builder(request.members(), request.shards())
					.owners(request.current())
					.build());
			}
		},

		FORGETS("leaves 1 consumed shards without an owner, beginning with [orders/3]") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				Assignment.Builder assignment = Assignment.builder(request);
				request.shards()
					.asList()
					.subList(0, 3)
					.forEach((shard) -> assignment.give(shard, request.members().get(0).id()));
				return assignment.build();
			}
		},

		UNKNOWN_MEMBER("assigns orders/0 to nobody~1, which is not among the request's members()") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				return Assignment.builder(request).give(ShardId.of("orders", 0), MemberId.of("nobody", "1")).build();
			}
		},

		UNKNOWN_SHARD("assigns orders/4, which is not among the request's shards()") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				return Assignment.builder(request)
					.keepCurrent()
					.give(ShardId.of("orders", 4), request.members().get(0).id())
					.build();
			}
		},

		TWICE("a shard has one owner") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				return Assignment.builder(request)
					.give(ShardId.of("orders", 0), request.members().get(0).id())
					.give(ShardId.of("orders", 0), request.members().get(1).id())
					.build();
			}
		},

		DUPLICATE_IDS("Two members are named d~1") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				Assignee one = new Assignee(MemberId.of("d", "1"), Set.of("orders"), ApplicationVersion.UNKNOWN);
				return STICKY.assign(AssignmentRequest.builder(List.of(one, one), request.shards()).build());
			}
		},

		HANGS("has not answered within 100 ms ('shardkeeper.assignment.timeout') and was interrupted") {
			@Override
			public Assignment assign(AssignmentRequest request) {
				try {
					new CountDownLatch(1).await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return STICKY.assign(request);
			}
		};

		private final String text;

		Failure(String text) {
			this.text = text;
		}

	}

}
