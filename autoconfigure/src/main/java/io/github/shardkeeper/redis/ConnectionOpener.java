package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;

/**
 * Opens connections within a time limit of our own. The client's limits
 * ({@code spring.data.redis.connect-timeout} and, for the handshake with a Redis that has
 * accepted the connection but does not answer, {@code spring.data.redis.timeout}) may be
 * a minute long, and a heartbeat cannot wait for that. Thread-safe.
 */
final class ConnectionOpener {

	/** Attempts that nobody waits for any more end by the client's own limits. */
	private static final int MOST_PENDING = 64;

	private final Semaphore pending = new Semaphore(MOST_PENDING);

	<C> C open(Supplier<C> connect, Consumer<C> closeLate, Duration timeout) {
		if (!this.pending.tryAcquire()) {
			throw new RedisException(MOST_PENDING + " attempts to connect are still pending");
		}
		CompletableFuture<C> opening = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				opening.complete(connect.get());
			}
			catch (Throwable ex) {
				opening.completeExceptionally(ex);
			}
			finally {
				this.pending.release();
			}
		}, "shardkeeper-connect");
		thread.setDaemon(true);
		thread.start();
		return await(opening, closeLate, timeout);
	}

	/** Waits for a connection that is being opened. */
	static <C> C await(CompletableFuture<C> opening, Consumer<C> closeLate, Duration timeout) {
		try {
			return opening.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new RedisException(ex.getCause());
		}
		catch (TimeoutException ex) {
			opening.thenAccept(closeLate);
			throw new RedisException("no connection within " + timeout.toMillis() + " ms", ex);
		}
		catch (InterruptedException ex) {
			opening.thenAccept(closeLate);
			Thread.currentThread().interrupt();
			throw new RedisException("interrupted while connecting", ex);
		}
	}

}
