package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.lettuce.core.RedisException;
import io.lettuce.core.codec.RedisCodec;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.redis.RedisConnector.Connection;

/**
 * The connection of a {@link RedisLink}. It is opened when it is needed, once for all
 * callers, and replaced when it is closed or no longer replies. Thread-safe.
 */
final class LinkConnection<V> {

	private static final int TIMEOUTS_BEFORE_REOPENING = 2;

	private final RedisConnector connector;

	private final RedisCodec<String, V> codec;

	private final Duration timeout;

	/** Not a monitor: it does not pin virtual threads. */
	private final ReentrantLock lock = new ReentrantLock();

	/** Open, or being opened; guarded by the lock, as is all below. */
	private @Nullable CompletableFuture<Connection<V>> current;

	private boolean closed;

	private int timeoutsInARow;

	/** Connection that was closed last because of time-outs. */
	private volatile @Nullable Connection<V> unresponsive;

	LinkConnection(RedisConnector connector, RedisCodec<String, V> codec, Duration timeout) {
		this.connector = connector;
		this.codec = codec;
		this.timeout = timeout;
	}

	RedisCodec<String, V> codec() {
		return this.codec;
	}

	/** Returns the connection once it is open; fails at the time limit. */
	CompletableFuture<Connection<V>> opened() {
		this.lock.lock();
		try {
			if (this.closed) {
				return CompletableFuture.failedFuture(new RedisException("this connection was closed"));
			}
			CompletableFuture<Connection<V>> known = this.current;
			if (known != null && known.isDone() && !isOpen(known)) {
				// The client's own reconnect backs off for up to half a minute and queues
				// commands meanwhile; a new connection succeeds or fails at once.
				disconnect();
				known = null;
			}
			return (known != null) ? known : connect();
		}
		finally {
			this.lock.unlock();
		}
	}

	private CompletableFuture<Connection<V>> connect() {
		CompletableFuture<Connection<V>> opening = this.connector.begin(this.codec, this.timeout);
		CompletableFuture.delayedExecutor(this.timeout.toNanos(), TimeUnit.NANOSECONDS, this.connector.background())
			.execute(() -> giveUp(opening));
		this.current = opening;
		this.timeoutsInARow = 0;
		return opening;
	}

	private void giveUp(CompletableFuture<Connection<V>> opening) {
		opening.completeExceptionally(this.connector.noConnection(this.timeout, null));
	}

	Connection<V> open(Duration patience) {
		CompletableFuture<Connection<V>> opening = opened();
		return BlockingWait.on(opening, patience, (cause) -> {
			if (patience.equals(this.timeout)) {
				giveUp(opening);
			}
			return this.connector.noConnection(patience, cause);
		});
	}

	/** Closes the connection after two time-outs in a row; an error is a reply. */
	void answered(Connection<V> on, boolean inTime) {
		this.lock.lock();
		try {
			if (!isCurrent(on)) {
				return;
			}
			this.timeoutsInARow = inTime ? 0 : this.timeoutsInARow + 1;
			if (this.timeoutsInARow >= TIMEOUTS_BEFORE_REOPENING) {
				this.unresponsive = on;
				disconnect();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns whether a connection was closed because of time-outs. */
	boolean isUnresponsive(Connection<V> on) {
		return this.unresponsive == on;
	}

	void discard(Connection<V> on) {
		this.lock.lock();
		try {
			if (isCurrent(on)) {
				disconnect();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isCurrent(Connection<V> on) {
		CompletableFuture<Connection<V>> known = this.current;
		return known != null && known.isDone() && !known.isCompletedExceptionally() && known.join() == on;
	}

	private static <V> boolean isOpen(CompletableFuture<Connection<V>> opened) {
		return !opened.isCompletedExceptionally() && opened.join().stateful().isOpen();
	}

	private void disconnect() {
		if (this.current != null) {
			this.current.thenAccept((open) -> this.connector.close(open.stateful()));
			this.current = null;
		}
	}

	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			disconnect();
		}
		finally {
			this.lock.unlock();
		}
	}

}
