package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import org.jspecify.annotations.Nullable;

/**
 * An answer that no thread waits for, with a time limit. On a Cluster, one that was asked
 * of a node that has died never comes: given up once another node serves the slot.
 * Thread-safe.
 */
final class AsyncAnswer<T> {

	private final RedisFuture<T> sent;

	private final Duration timeout;

	private final Executor background;

	private final CompletableFuture<T> answer = new CompletableFuture<>();

	AsyncAnswer(RedisFuture<T> sent, Duration timeout, Executor background) {
		this.sent = sent;
		this.timeout = timeout;
		this.background = background;
	}

	/** Fails with nothing but a {@link RedisException}. */
	CompletableFuture<T> begin(@Nullable BooleanSupplier servedElsewhere) {
		this.sent.whenComplete((value, failure) -> {
			if (failure == null) {
				this.answer.complete(value);
			}
			else {
				this.answer.completeExceptionally(failure);
			}
		});
		this.answer.orTimeout(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		if (servedElsewhere != null) {
			lookWhoServes(servedElsewhere, CompletableFuture.delayedExecutor(RedisLink.PATIENCE_WITH_A_NODE_NANOS,
					TimeUnit.NANOSECONDS, this.background));
		}
		CompletableFuture<T> result = new CompletableFuture<>();
		this.answer.whenComplete((value, failure) -> {
			if (failure == null) {
				result.complete(value);
			}
			else {
				// What is cancelled is not sent (again) after a reconnect.
				this.sent.cancel(true);
				result.completeExceptionally(asRedisException(failure));
			}
		});
		return result;
	}

	private void lookWhoServes(BooleanSupplier servedElsewhere, Executor later) {
		later.execute(() -> {
			if (this.answer.isDone()) {
				return;
			}
			if (servedElsewhere.getAsBoolean()) {
				this.answer.completeExceptionally(new RedisException("another node serves the slot now"));
				return;
			}
			lookWhoServes(servedElsewhere, later);
		});
	}

	private RedisException asRedisException(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		if (cause instanceof RedisException redis) {
			return redis;
		}
		if (cause instanceof TimeoutException) {
			return new RedisException("no answer within " + this.timeout.toMillis() + " ms", cause);
		}
		if (cause instanceof CancellationException) {
			// Another thread found the connection dead and closed it.
			return new RedisException("the connection was closed while waiting for an answer", cause);
		}
		return new RedisException(cause);
	}

	/** Whether a failure of an answer is that there was none in time. */
	static boolean isTimeout(Throwable failure) {
		// The client's own limit may be the first to end, where it has one.
		return failure instanceof RedisCommandTimeoutException || failure.getCause() instanceof TimeoutException;
	}

}
