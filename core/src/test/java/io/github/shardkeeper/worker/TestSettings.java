package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.retry.RetryPolicy;

import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.BufferLimits;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Commits;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Parking;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;

/**
 * Settings for tests: the defaults, with what a test wants otherwise.
 */
public final class TestSettings {

	/** Without an end, for tests of what comes before one. */
	public static final int ENDLESS = 1_000_000;

	private Commits commits = new Commits(CommitMode.BACKGROUND, Duration.ofSeconds(5), 1000);

	private Ordering ordering = Ordering.SHARD;

	private int concurrency = 8;

	private int maxAhead = 1000;

	private int batchSize = 500;

	private BufferLimits buffer = new BufferLimits(1000, 4_000_000);

	private long maxRecordBytes = 1_000_000;

	private int maxAttempts = 5;

	private List<Class<? extends Throwable>> excludes = List.of();

	private OnFailure onFailure = OnFailure.DEAD_LETTER;

	private List<Duration> retryDelays = List.of(Duration.ofSeconds(10), Duration.ofMinutes(1));

	private int maxConversionFailures = 20;

	private boolean showExceptionMessages;

	private @Nullable Duration retryMaxAge;

	private Parking parking = new Parking(100, 10_000, AfterDelays.REPEAT);

	private StateRead stateRead = StateRead.ON_ACQUISITION;

	private @Nullable Duration stateTtl;

	private Duration longCall = Duration.ofMinutes(5);

	private List<FailureHandler> failureHandlers = List.of();

	public TestSettings maxConversionFailures(int maxConversionFailures) {
		this.maxConversionFailures = maxConversionFailures;
		return this;
	}

	public TestSettings retryMaxAge(Duration retryMaxAge) {
		this.retryMaxAge = retryMaxAge;
		return this;
	}

	public TestSettings parking(int maxKeys, int maxRecords, AfterDelays afterDelays) {
		this.parking = new Parking(maxKeys, maxRecords, afterDelays);
		return this;
	}

	public TestSettings showExceptionMessages() {
		this.showExceptionMessages = true;
		return this;
	}

	public TestSettings stateRead(StateRead stateRead) {
		this.stateRead = stateRead;
		return this;
	}

	public TestSettings stateTtl(Duration stateTtl) {
		this.stateTtl = stateTtl;
		return this;
	}

	public TestSettings longCall(Duration longCall) {
		this.longCall = longCall;
		return this;
	}

	public TestSettings commits(CommitMode mode, Duration interval, int records) {
		this.commits = new Commits(mode, interval, records);
		return this;
	}

	public TestSettings ordering(Ordering ordering, int concurrency) {
		this.ordering = ordering;
		this.concurrency = concurrency;
		return this;
	}

	public TestSettings maxAhead(int maxAhead) {
		this.maxAhead = maxAhead;
		return this;
	}

	public TestSettings batchSize(int batchSize) {
		this.batchSize = batchSize;
		return this;
	}

	public TestSettings buffer(int records, long bytes) {
		this.buffer = new BufferLimits(records, bytes);
		return this;
	}

	public TestSettings maxRecordBytes(long bytes) {
		this.maxRecordBytes = bytes;
		return this;
	}

	public TestSettings maxAttempts(int maxAttempts) {
		this.maxAttempts = maxAttempts;
		return this;
	}

	public TestSettings excludes(Class<? extends Throwable> type) {
		this.excludes = List.of(type);
		return this;
	}

	public TestSettings onFailure(OnFailure onFailure, Duration... retryDelays) {
		this.onFailure = onFailure;
		this.retryDelays = List.of(retryDelays);
		return this;
	}

	public TestSettings failureHandlers(FailureHandler... failureHandlers) {
		this.failureHandlers = List.of(failureHandlers);
		return this;
	}

	/** Returns settings with another moment at which entries of the state are read. */
	public static ConsumerSettings with(ConsumerSettings other, StateRead read) {
		return new ConsumerSettings(other.commits(), other.ordering(), other.concurrency(), other.maxAhead(),
				other.batchSize(), other.buffer(), other.maxRecordBytes(), other.retry(), other.onFailure(),
				other.retryDelays(), other.retryMaxAge(), other.parking(), read, other.stateTtl(), other.longCall(),
				other.maxConversionFailures(), other.showExceptionMessages(), other.failureHandlers());
	}

	public ConsumerSettings get() {
		RetryPolicy retry = RetryPolicy.builder()
			.maxRetries(this.maxAttempts - 1L)
			.delay(Duration.ofMillis(200))
			.multiplier(2)
			.maxDelay(Duration.ofSeconds(30))
			.excludes(this.excludes)
			.build();
		return new ConsumerSettings(this.commits, this.ordering, this.concurrency, this.maxAhead, this.batchSize,
				this.buffer, this.maxRecordBytes, retry, this.onFailure, this.retryDelays, this.retryMaxAge,
				this.parking, this.stateRead, this.stateTtl, this.longCall, this.maxConversionFailures,
				this.showExceptionMessages, this.failureHandlers);
	}

}
