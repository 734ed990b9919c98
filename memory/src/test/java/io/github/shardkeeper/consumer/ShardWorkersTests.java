package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.FaultyCheckpoints;
import io.github.shardkeeper.worker.ManualThreads;
import io.github.shardkeeper.worker.TestReader;
import io.github.shardkeeper.worker.TestSettings;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Runs on the test's thread and by the test's clock, step by step.
 */
class ShardWorkersTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final MemberId ME = MemberId.of("me", "1");

	private static final Token TOKEN = new Token(10);

	private final SettableClock clock = new SettableClock();

	private final Lease lease = new Lease(Duration.ofSeconds(10), this.clock.now());

	private final ManualThreads threads = new ManualThreads(this.clock);

	private final TestReader reader = new TestReader();

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints();

	private final Application application = new Application();

	private final ConsumerStates states = new ConsumerStates((topic) -> true);

	private final List<Token> ended = new ArrayList<>();

	@BeforeEach
	void holdLease() {
		this.lease.renew(this.clock.now(), this.clock.now());
	}

	@Test
	void suspensionInterruptsCallsEvenIfItsEventFails() {
		ShardWorkers workers = workers(new SessionWatch(() -> {
			throw new IllegalStateException("caused by the test");
		}, ConsumerEvents.NONE));
		this.application.onRecord = () -> {
			this.lease.end();
			assertThatIllegalStateException().isThrownBy(workers::suspend);
			// The call is made again, once.
			holdLease();
			this.application.onRecord = () -> {
			};
			untilInterrupted();
		};
		workers.start(SHARD, TOKEN, ME);
		this.threads.runAll();
		this.reader.deliver(SHARD, 1, "r1");
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("r1", "r1");
	}

	/** A shard may be assigned before the store has answered what operators want. */
	@Test
	void shardIsPausedUntilItIsKnownWhetherItShallBe() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE), this.threads, null);
		ShardId paused = ShardId.of("orders", 0);
		for (ShardId shard : List.of(SHARD, paused)) {
			workers.start(shard, TOKEN, ME);
			this.threads.runAll();
			this.reader.deliver(shard, 1, "of " + shard);
		}
		this.threads.runAll();
		assertThat(this.application.calls).isEmpty();

		workers.directivesChanged(new Directives(1,
				List.of(Directive.of(Directive.Kind.PAUSE, paused.toString(), null, "anna", "")), List.of()));
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("of orders/1");
	}

	/** The leader may not know yet that the topic is stopped here. */
	@Test
	void shardOfAStoppedTopicIsGivenBackUnread() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE));
		this.states.set("orders", State.STOPPED);
		workers.prepare(SHARD, ME);
		workers.start(SHARD, TOKEN, ME);
		this.threads.runAll();

		assertThat(this.ended).containsExactly(TOKEN);
		assertThat(workers.shards()).isEmpty();
		assertThat(this.reader.calls()).isEmpty();
		assertThat(this.application.calls).isEmpty();
	}

	@Test
	void shardPausedByBothIsResumedByBoth() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE), this.threads, null);
		workers.start(SHARD, TOKEN, ME);
		this.threads.runAll();
		this.reader.deliver(SHARD, 1, "r1");
		this.states.set("orders", State.PAUSED);
		workers.statesChanged();
		workers.directivesChanged(Directives.NONE);
		this.threads.runAll();
		assertThat(this.application.calls).isEmpty();

		this.states.set("orders", State.RUNNING);
		workers.statesChanged();
		this.threads.runAll();
		assertThat(this.application.calls).containsExactly("r1");
	}

	@Test
	void overdueDrainInterruptsThePreparation() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE));
		this.application.onPreparing = () -> {
			assertThat(workers.problems()).as("not here yet").isEmpty();
			workers.start(SHARD, TOKEN, ME);
			assertThat(workers.problems().get(SHARD)).contains("@OnShardPreparing", "Application.prepare");
			workers.drain(SHARD);
			workers.interrupt(SHARD, Duration.ofSeconds(50));
			try {
				untilInterrupted();
			}
			catch (InterruptedException ex) {
				// Here, because what a preparation throws fails no test.
				this.application.calls.add("interrupted");
			}
		};
		workers.prepare(SHARD, ME);
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("preparing", "interrupted");
		assertThat(workers.shards()).as("handed over").isEmpty();
	}

	@Test
	void shardWaitsForAPreparationThatWasRequestedTwice() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE));
		this.application.onPreparing = () -> {
			workers.prepare(SHARD, ME);
			workers.start(SHARD, TOKEN, ME);
			this.threads.runAll();
			this.application.calls.add("returns with " + this.reader.calls());
		};
		workers.prepare(SHARD, ME);
		this.threads.runAll();

		assertThat(this.application.calls).containsExactly("preparing", "returns with []");
		assertThat(this.reader.calls()).containsExactly("start after null");
	}

	@Test
	void numberOfAcquisitionsAtATimeIsLimited() {
		this.checkpoints.holdAcquisitions();
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE));
		for (int shard = 0; shard < 70; shard++) {
			workers.start(ShardId.of("orders", shard), TOKEN, ME);
		}
		this.threads.runAll();
		assertThat(this.checkpoints.heldAcquisitions()).isEqualTo(64);

		workers.drain(ShardId.of("orders", 0));
		workers.drain(ShardId.of("orders", 69));
		this.threads.runAll();
		assertThat(this.checkpoints.heldAcquisitions()).as("another one for that which does not wait").isEqualTo(65);

		this.checkpoints.answerAcquisitions();
		this.threads.runAll();
		assertThat(this.reader.calls()).hasSize(68);
	}

	/** Method body that waits for something that never comes. */
	private static void untilInterrupted() throws InterruptedException {
		assertThat(new CountDownLatch(1).await(10, TimeUnit.SECONDS)).isTrue();
	}

	/** Between its first turn and its registration for notifications. */
	@Test
	void workerThatStartsWithoutALeaseIsWokenByAResume() {
		AtomicReference<ShardWorkers> workers = new AtomicReference<>();
		AtomicBoolean begun = new AtomicBoolean();
		workers.set(workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE), (turn) -> {
			if (begun.getAndSet(true)) {
				this.threads.execute(turn);
				return;
			}
			turn.run();
			this.lease.renew(this.clock.now(), this.clock.now());
			workers.get().resume();
		}));
		this.clock.advance(Duration.ofSeconds(9));
		workers.get().start(SHARD, TOKEN, ME);
		this.threads.runAll();

		assertThat(this.reader.calls()).hasSize(1);
	}

	@Test
	void workIsNotMeasuredUnlessRequired() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE));
		workers.start(ShardId.of("orders", 0), new Token(1), ME);
		this.threads.runAll();

		assertThat(workers.work(this.clock.now())).isEmpty();
	}

	/** The leader may not know yet that the handler is removed here. */
	@Test
	void shardOfARemovedTopicIsGivenBackOnceItsFormerWorkerHasEnded() {
		ShardWorkers workers = workers(new SessionWatch(Optional::empty, ConsumerEvents.NONE));
		workers.start(SHARD, TOKEN, ME);
		this.threads.runAll();
		workers.remove("orders");
		this.reader.deliver(SHARD, 1, "r1");
		this.threads.runAll();
		assertThat(this.application.calls).as("paused").isEmpty();
		Token next = new Token(TOKEN.value() + 1);

		workers.prepare(SHARD, ME);
		workers.start(SHARD, next, ME);
		assertThat(this.ended).isEmpty();
		workers.drain(SHARD);
		this.threads.runAll();

		assertThat(this.ended).containsExactly(TOKEN, next);
		assertThat(this.application.calls).isEmpty();
		assertThat(workers.ended("orders")).isDone();
	}

	private ShardWorkers workers(SessionWatch session) {
		return workers(session, this.threads);
	}

	private ShardWorkers workers(SessionWatch session, Executor executor) {
		return workers(session, executor, Directives.NONE);
	}

	private ShardWorkers workers(SessionWatch session, Executor executor, @Nullable Directives directives) {
		JsonMapper mapper = new JsonMapper();
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("application", this.application);
		return new ShardWorkers(
				new ShardHandlerDetector(beans, new JsonPayloadConverter(mapper)).detect(Map.of("orders", 2)),
				new WorkerContext("group", new WorkerContext.Stores(this.checkpoints, this.reader, OutputSettings.NONE),
						new WorkerContext.Runtime(this.clock, InstantSource.fixed(Instant.EPOCH), executor,
								this.threads.timer()),
						new WorkerContext.Topics((topic) -> new TestSettings().get(), new BufferBudget(Long.MAX_VALUE),
								new StateCache(1_000_000), new StateValues(mapper, List.of())),
						new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
								(shard, token, fence, completed) -> this.ended.add(token), false),
						this.lease),
				session, this.threads, this.states, directives, null);
	}

	/** Bean of the application. */
	static final class Application {

		private final List<String> calls = new ArrayList<>();

		private UserCode onRecord = () -> {
		};

		private UserCode onPreparing = () -> {
		};

		@ShardConsumer("orders")
		void handle(String payload) throws Exception {
			this.calls.add(payload);
			this.onRecord.run();
		}

		@OnShardPreparing
		void prepare(ShardContext context) throws Exception {
			this.calls.add("preparing");
			this.onPreparing.run();
		}

	}

	@FunctionalInterface
	interface UserCode {

		void run() throws Exception;

	}

}
