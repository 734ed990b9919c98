package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicClock;

import static org.assertj.core.api.Assertions.assertThat;

class StrategyCallsTests {

	private final BlockingQueue<Thread> computedBy = new ArrayBlockingQueue<>(10);

	private final BlockingQueue<StrategyCalls.Reply> replies = new ArrayBlockingQueue<>(10);

	private final BlockingQueue<Boolean> wakes = new ArrayBlockingQueue<>(10);

	private ShardCatalog catalog = ShardCatalog.PLAIN;

	@Test
	void smallGroupIsPlannedOnTheLoop() {
		try (StrategyCalls calls = builtIn()) {
			calls.begin(request(100));

			assertThat(this.computedBy).containsExactly(Thread.currentThread());
			assertThat(this.replies).hasSize(1).hasOnlyElementsOfType(StrategyCalls.Computed.class);
		}
	}

	@Test
	void answerHasTheTimeOfTheCall() {
		SettableClock clock = new SettableClock();
		StickyAssignment sticky = new StickyAssignment();
		AssignmentSettings settings = new AssignmentSettings("sticky", (request) -> {
			clock.advance(Duration.ofMillis(70));
			return sticky.assign(request);
		}, this.catalog, false, Duration.ofSeconds(5), null);
		try (StrategyCalls calls = new StrategyCalls(settings, clock, (request, reply) -> this.replies.add(reply),
				() -> this.wakes.add(true))) {
			calls.begin(request(1));

			assertThat(this.replies.remove()).isInstanceOfSatisfying(StrategyCalls.Computed.class,
					(computed) -> assertThat(computed.duration()).isEqualTo(Duration.ofMillis(70)));
		}
	}

	/** The loop and the leader's lease continue during a call of any length. */
	@Test
	void largeGroupIsPlannedOnAnotherThread() throws InterruptedException {
		try (StrategyCalls calls = builtIn()) {
			calls.begin(request(20_001));
			assertThat(this.replies).as("before it was looked").isEmpty();

			assertThat(this.wakes.poll(10, TimeUnit.SECONDS)).isTrue();
			calls.run();
			assertThat(this.computedBy.remove().getName()).isEqualTo("shardkeeper-assignment");
			assertThat(this.replies).hasSize(1).hasOnlyElementsOfType(StrategyCalls.Computed.class);
		}
	}

	/** A pin must not be gone because a database was away for a moment. */
	@Test
	void failingCatalogFailsTheCall() {
		this.catalog = (shard) -> {
			throw new IllegalStateException("caused by the test");
		};
		try (StrategyCalls calls = builtIn()) {
			calls.begin(request(1));

			assertThat(this.replies.remove()).isInstanceOfSatisfying(StrategyCalls.Failed.class,
					(failed) -> assertThat(failed.text()).contains("The ShardCatalog fails for orders/0",
							"caused by the test"));
		}
	}

	@Test
	void errorOfTheCatalogIsNotSaidOfTheStrategy() {
		this.catalog = (shard) -> {
			throw new NoClassDefFoundError("caused by the test");
		};
		try (StrategyCalls calls = builtIn()) {
			calls.begin(request(1));

			assertThat(this.replies.remove()).isInstanceOfSatisfying(StrategyCalls.Failed.class,
					(failed) -> assertThat(failed.text())
						.contains("The ShardCatalog fails for orders/0: java.lang.NoClassDefFoundError")
						.doesNotContain("strategy"));
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void exceptionOfTheCatalogWhoseTextFailsIsNotSaidOfTheStrategy(boolean error) {
		this.catalog = (shard) -> {
			throw new IllegalStateException() {

				@Override
				public String toString() {
					if (error) {
						throw new StackOverflowError("caused by the test");
					}
					throw new UnsupportedOperationException("caused by the test");
				}

			};
		};
		try (StrategyCalls calls = builtIn()) {
			calls.begin(request(1));

			assertThat(this.replies.remove()).isInstanceOfSatisfying(StrategyCalls.Failed.class,
					(failed) -> assertThat(failed.text()).contains("The ShardCatalog fails for orders/0")
						.doesNotContain("strategy"));
		}
	}

	@Test
	void catalogThatHangsIsNotSaidOfTheStrategy() throws InterruptedException {
		SettableClock clock = new SettableClock();
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch interrupted = new CountDownLatch(1);
		CountDownLatch returns = new CountDownLatch(1);
		this.catalog = (shard) -> {
			asked.countDown();
			while (returns.getCount() > 0) {
				try {
					returns.await();
				}
				catch (InterruptedException ex) {
					interrupted.countDown();
				}
			}
			return ShardTraits.NONE;
		};
		AssignmentSettings settings = new AssignmentSettings("sticky", new StickyAssignment(), this.catalog, true,
				Duration.ofSeconds(5), null);
		try (StrategyCalls calls = new StrategyCalls(settings, clock, (request, reply) -> this.replies.add(reply),
				() -> this.wakes.add(true))) {
			calls.begin(request(2));
			asked.await();
			clock.advance(Duration.ofSeconds(6));
			calls.run();
			interrupted.await();
			calls.begin(request(2));
			returns.countDown();
			assertThat(this.wakes.poll(10, TimeUnit.SECONDS)).isTrue();
		}

		assertThat(this.replies).extracting((reply) -> ((StrategyCalls.Failed) reply).text())
			.satisfiesExactly(
					(late) -> assertThat(late)
						.startsWith("The ShardCatalog, which was asked for the traits of "
								+ "orders/0, has not answered within 5000 ms ('shardkeeper.assignment.timeout')")
						.contains("Have it reply from memory")
						.doesNotContain("strategy"),
					(stuck) -> assertThat(stuck)
						.startsWith("The ShardCatalog, which was asked for the traits of orders/0, was interrupted "
								+ "after 5000 ms and has not returned, it is at ")
						.doesNotContain("strategy"));
	}

	private StrategyCalls builtIn() {
		StickyAssignment sticky = new StickyAssignment();
		AssignmentSettings settings = new AssignmentSettings("sticky", (request) -> {
			this.computedBy.add(Thread.currentThread());
			return sticky.assign(request);
		}, this.catalog, false, Duration.ofSeconds(5), null);
		return new StrategyCalls(settings, MonotonicClock.SYSTEM, (request, reply) -> this.replies.add(reply),
				() -> this.wakes.add(true));
	}

	private static AssignmentRequest request(int shards) {
		Assignee member = new Assignee(MemberId.of("a", "1"), Set.of("orders"), ApplicationVersion.UNKNOWN);
		return AssignmentRequest
			.builder(List.of(member),
					Shards.of(IntStream.range(0, shards).mapToObj((shard) -> ShardId.of("orders", shard)).toList()))
			.build();
	}

}
