package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.FaultyCheckpoints;
import io.github.shardkeeper.worker.ManualThreads;
import io.github.shardkeeper.worker.TestReader;
import io.github.shardkeeper.worker.TestSettings;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A warm-up comes to its end, however topics are consumed, and touches nothing of what
 * the real workers share.
 */
@CapturesOutput
class WarmUpTests {

	private static final ShardId SHARD = ShardId.of("warm-up", 0);

	private final SettableClock clock = new SettableClock();

	/** Time that passes with each reading of the clock. */
	private Duration step = Duration.ZERO;

	private final TestReader reader = new TestReader();

	private final ManualThreads threads = new ManualThreads(this.clock);

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints(() -> Instant.EPOCH);

	@Test
	void warmUpEndsWithAnySettings() throws NoSuchMethodException {
		for (TestSettings settings : new TestSettings[] { new TestSettings(),
				new TestSettings().commits(CommitMode.MANUAL, Duration.ofSeconds(5), 1000),
				new TestSettings().commits(CommitMode.BATCH, Duration.ofSeconds(5), 1000),
				new TestSettings().ordering(Ordering.KEY, 4), new TestSettings().ordering(Ordering.NONE, 4) }) {
			assertThat(new WarmUp().consume(context(), settings.get())).isTrue();
		}
		assertThat(this.reader.calls()).isEmpty();
	}

	@Test
	void warmUpIsRepeatedAndUsesNeitherStoreNorReader() {
		assertThat(WarmUp.run(context(), new TestSettings().get())).isEqualTo(200);
		assertThat(this.checkpoints.store().contains(SHARD)).isFalse();
		assertThat(this.reader.calls()).isEmpty();
	}

	@Test
	void warmUpLogsNothing(CapturedOutput output) {
		LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
		logging.setLogLevel("io.github.shardkeeper", LogLevel.DEBUG);
		try {
			WarmUp.run(context(), new TestSettings().get());
			assertThat(output.getAll()).doesNotContain("warm-up/0");
		}
		finally {
			logging.setLogLevel("io.github.shardkeeper", null);
		}
	}

	@Test
	void durationOfTheRehearsalIsLimited() {
		this.step = Duration.ofMillis(10);
		assertThat(WarmUp.run(context(), new TestSettings().get())).isBetween(1, 15);
	}

	private WorkerContext context() {
		return new WorkerContext("group", new WorkerContext.Stores(this.checkpoints, this.reader, OutputSettings.NONE),
				new WorkerContext.Runtime(this::now, InstantSource.fixed(Instant.EPOCH), (turn) -> {
					throw new IllegalStateException("No thread of the application is used");
				}, this.threads.timer()), new WorkerContext.Topics((topic) -> {
					throw new IllegalStateException("No topic of the application is consumed");
				}, new BufferBudget(1), new StateCache(1_000_000), new StateValues(new JsonMapper(), List.of())),
				new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
						(shard, token, fence, completed) -> {
							throw new IllegalStateException("No shard of the application ends");
						}, true),
				new Lease(Duration.ZERO, this.clock.now()));
	}

	private MonotonicTime now() {
		this.clock.advance(this.step);
		return this.clock.now();
	}

}
