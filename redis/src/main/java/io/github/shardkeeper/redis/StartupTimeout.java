package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.function.Function;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

/**
 * How long the start of an application waits in vain for Redis: all its steps together,
 * because each of them would find out anew that a Redis that accepts connections does not
 * answer. Concerns the thread that it was begun on, and lets all others do what they
 * want. Thread-safe.
 */
final class StartupTimeout {

	static final Duration LIMIT = Duration.ofSeconds(5);

	/** For whoever does not start. */
	static final StartupTimeout NONE = new StartupTimeout(null);

	private final @Nullable Thread starting;

	/** Confined to that thread. */
	private long leftNanos = LIMIT.toNanos();

	private StartupTimeout(@Nullable Thread starting) {
		this.starting = starting;
	}

	/** Begins it on the thread of the caller. */
	static StartupTimeout begin() {
		return new StartupTimeout(Thread.currentThread());
	}

	/**
	 * Makes a step that waits for Redis.
	 * @param timeout how long it may wait otherwise
	 * @param step waits as long as it is told
	 * @throws RedisException when nothing is left to wait; the step was not made
	 */
	<T> T call(Duration timeout, Function<Duration, T> step) {
		if (Thread.currentThread() != this.starting) {
			return step.apply(timeout);
		}
		if (this.leftNanos <= 0) {
			throw new RedisException("no answer within " + LIMIT.toMillis() + " ms of the start");
		}
		long begun = System.nanoTime();
		try {
			T answer = step.apply((timeout.toNanos() < this.leftNanos) ? timeout : Duration.ofNanos(this.leftNanos));
			this.leftNanos = LIMIT.toNanos();
			return answer;
		}
		catch (Throwable ex) {
			this.leftNanos -= System.nanoTime() - begun;
			throw ex;
		}
	}

}
