package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

/** Blocks a thread until a connection opens or a command is answered. Has no state. */
final class BlockingWait {

	private BlockingWait() {
	}

	/**
	 * Waits for a result.
	 * @param tooLate creates the failure for a missing result
	 * @throws RedisException when there is no result in time; or the failure itself
	 */
	static <T> T on(Future<T> result, Duration patience, Function<TimeoutException, RedisException> tooLate) {
		try {
			return result.get(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new RedisException(ex.getCause());
		}
		catch (CancellationException ex) {
			throw new RedisException("the connection was closed while waiting for a reply", ex);
		}
		catch (TimeoutException ex) {
			throw tooLate.apply(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisException("interrupted while waiting for Redis", ex);
		}
	}

	static RedisException noReply(Duration limit, @Nullable Throwable cause) {
		return new RedisException("no reply within " + limit.toMillis() + " ms", cause);
	}

}
