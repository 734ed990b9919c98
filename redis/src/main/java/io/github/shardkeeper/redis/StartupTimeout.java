package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.function.Function;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

/**
 * Maximum time for which startup waits for Redis, over all its calls. Applies to the
 * thread that starts the application; others have the full limit of each call.
 * Thread-safe.
 */
final class StartupTimeout {

	static final Duration LIMIT = Duration.ofSeconds(5);

	/** No limit: the application is not starting. */
	static final StartupTimeout NONE = new StartupTimeout(null);

	private final @Nullable Thread starting;

	/** Confined to that thread. */
	private long leftNanos = LIMIT.toNanos();

	private StartupTimeout(@Nullable Thread starting) {
		this.starting = starting;
	}

	static StartupTimeout begin() {
		return new StartupTimeout(Thread.currentThread());
	}

	/**
	 * Makes a call, with at most the time that is left.
	 * @throws RedisException when no time is left; the call was not made
	 */
	<T> T call(Duration timeout, Function<Duration, T> step) {
		if (Thread.currentThread() != this.starting) {
			return step.apply(timeout);
		}
		if (this.leftNanos <= 0) {
			throw new RedisException("no reply within " + LIMIT.toMillis() + " ms of the start");
		}
		long begun = System.nanoTime();
		try {
			T reply = step.apply((timeout.toNanos() < this.leftNanos) ? timeout : Duration.ofNanos(this.leftNanos));
			this.leftNanos = LIMIT.toNanos();
			return reply;
		}
		catch (Throwable ex) {
			this.leftNanos -= System.nanoTime() - begun;
			throw ex;
		}
	}

}
