package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;

/**
 * Opens connections within a time limit. The client's own limits may be a minute long
 * ({@code spring.data.redis.connect-timeout}, and {@code spring.data.redis.timeout} for
 * the handshake), and a heartbeat cannot wait for that. Each attempt blocks a thread:
 * Lettuce's asynchronous connecting needs the address, which only Spring's factory knows.
 * Thread-safe.
 */
final class ConnectionOpener {

	/** Bounds the attempts that were given up and last until the client's own limits. */
	private static final int MAX_PENDING = 64;

	private final Semaphore pending = new Semaphore(MAX_PENDING);

	private final ThreadFactory threads;

	ConnectionOpener() {
		this((task) -> {
			Thread thread = new Thread(task, "shardkeeper-connect");
			thread.setDaemon(true);
			return thread;
		});
	}

	ConnectionOpener(ThreadFactory threads) {
		this.threads = threads;
	}

	/**
	 * Begins to open a connection, without a time limit. A caller that completes the
	 * future itself gives up: then the connection is closed once it is open.
	 */
	<C> CompletableFuture<C> begin(Supplier<C> connect, Consumer<C> closeLate) {
		CompletableFuture<C> opening = new CompletableFuture<>();
		if (!this.pending.tryAcquire()) {
			opening.completeExceptionally(new RedisException(MAX_PENDING + " attempts to connect are still pending"));
			return opening;
		}
		try {
			this.threads.newThread(() -> connect(connect, closeLate, opening)).start();
		}
		catch (Throwable ex) {
			// No thread is available now; one may be at the next attempt.
			this.pending.release();
			opening.completeExceptionally(new RedisException("no thread to connect on is available: " + ex, ex));
		}
		return opening;
	}

	private <C> void connect(Supplier<C> connect, Consumer<C> closeLate, CompletableFuture<C> opening) {
		try {
			C connection = connect.get();
			if (!opening.complete(connection)) {
				closeLate.accept(connection);
			}
		}
		catch (Throwable ex) {
			opening.completeExceptionally(ex);
		}
		finally {
			this.pending.release();
		}
	}

	/** Waits for a connection; closes it if it opens after the time limit. */
	static <C> C await(CompletableFuture<C> opening, Consumer<C> closeLate, Duration timeout,
			Function<TimeoutException, RedisException> tooLate) {
		try {
			return BlockingWait.on(opening, timeout, tooLate);
		}
		catch (RuntimeException ex) {
			opening.thenAccept(closeLate);
			throw ex;
		}
	}

}
