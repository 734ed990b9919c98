package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector.Connection;

/**
 * Replies, within a time limit, to commands that were sent together. A thread waits for
 * them ({@link #await}), or {@link ReplyTimeouts} ends them. Lettuce's own limit may be
 * off; where it fires first, it counts as a time-out too. Thread-safe.
 */
final class PendingReplies<T> {

	/** Time after which to check whether a node of a Cluster still serves the slot. */
	static final Duration NODE_CHECK_INTERVAL = Duration.ofMillis(500);

	private final Duration timeout;

	private final int sentAt;

	private final @Nullable BooleanSupplier servedElsewhere;

	private final Observer observer;

	private final AtomicInteger missing = new AtomicInteger();

	private final List<CompletableFuture<T>> replies = new ArrayList<>();

	/** Released with the last reply. */
	private volatile List<? extends RedisFuture<T>> commands = List.of();

	private volatile boolean answered;

	private volatile boolean timedOut;

	private volatile boolean abandoned;

	private volatile @Nullable RedisException cancelled;

	/**
	 * Creates an empty set of replies.
	 * @param sentAt step of {@link ReplyTimeouts} at which the commands are sent
	 * @param servedElsewhere returns whether another node serves the slot now: a dead
	 * node never replies; {@code null} for no check
	 */
	PendingReplies(Duration timeout, int sentAt, @Nullable BooleanSupplier servedElsewhere, Observer observer) {
		this.timeout = timeout;
		this.sentAt = sentAt;
		this.servedElsewhere = servedElsewhere;
		this.observer = observer;
	}

	<V> void send(List<AsyncCommand<String, V, T>> toSend, Connection<V> connection) {
		expect(toSend);
		try {
			connection.send((on) -> on.stateful().dispatch(toSend));
		}
		catch (RedisException | IllegalStateException ex) {
			// Some of them may have been sent.
			toSend.forEach((command) -> command.completeExceptionally(ex));
		}
	}

	/** Expects replies to commands that were sent, or are about to be. */
	void expect(List<? extends RedisFuture<T>> sent) {
		this.missing.set(sent.size());
		this.commands = sent;
		for (RedisFuture<T> command : sent) {
			CompletableFuture<T> reply = new CompletableFuture<>();
			this.replies.add(reply);
			command.whenComplete((value, failure) -> ended(command, reply, value, failure));
		}
	}

	/** Returns the reply to each command, or its {@link StoreUnavailableException}. */
	List<CompletableFuture<T>> replies() {
		return this.replies;
	}

	int sentAt() {
		return this.sentAt;
	}

	boolean isDone() {
		return this.missing.get() == 0;
	}

	void timeOut() {
		timeOut(this.timeout);
	}

	private void timeOut(Duration limit) {
		this.timedOut = true;
		cancel(BlockingWait.noReply(limit, null));
	}

	boolean hasNodeCheck() {
		return this.servedElsewhere != null;
	}

	/** Ends the replies if another node of the Cluster serves the slot now. */
	void checkNode() {
		if (this.servedElsewhere != null && !isDone() && this.servedElsewhere.getAsBoolean()) {
			cancel(new RedisException("another node serves the slot now"));
		}
	}

	private void cancelOthers() {
		this.abandoned = true;
		cancel(new RedisException("another reply to the same call has failed"));
	}

	private void cancel(RedisException reason) {
		if (this.cancelled == null) {
			this.cancelled = reason;
		}
		// Lettuce does not resend cancelled commands after a reconnect.
		this.commands.forEach((command) -> command.cancel(true));
	}

	/**
	 * Waits for all replies.
	 * @throws StoreUnavailableException when one is missing at the time limit, or an
	 * error
	 */
	List<T> await(Duration patience) {
		return await(patience, (place, failure) -> {
			throw failure;
		});
	}

	/**
	 * Waits for all replies.
	 * @param onRefused receives the index and the error of a command that Redis refuses;
	 * its reply is {@code null}
	 * @throws StoreUnavailableException when a reply is missing at the time limit
	 */
	List<@Nullable T> await(Duration patience, BiConsumer<Integer, StoreUnavailableException> onRefused) {
		long deadline = System.nanoTime() + patience.toNanos();
		List<@Nullable T> values = new ArrayList<>(this.replies.size());
		try {
			for (CompletableFuture<T> reply : this.replies) {
				try {
					values.add(await(reply, deadline, patience));
				}
				catch (StoreUnavailableException ex) {
					if (!ex.isRefusal()) {
						throw ex;
					}
					onRefused.accept(values.size(), ex);
					values.add(null);
				}
			}
			return values;
		}
		catch (RuntimeException ex) {
			cancelOthers();
			throw ex;
		}
	}

	private T await(CompletableFuture<T> reply, long deadline, Duration patience) {
		while (true) {
			long left = Math.max(0, deadline - System.nanoTime());
			long nanos = hasNodeCheck() ? Math.min(left, NODE_CHECK_INTERVAL.toNanos()) : left;
			try {
				return reply.get(nanos, TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException ex) {
				if (nanos == left) {
					timeOut(patience);
					throw RedisLink.unavailable(BlockingWait.noReply(patience, ex));
				}
				checkNode();
			}
			catch (ExecutionException ex) {
				throw (StoreUnavailableException) ex.getCause();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw RedisLink.unavailable(new RedisException("interrupted while waiting for a reply", ex));
			}
		}
	}

	private void ended(RedisFuture<T> command, CompletableFuture<T> reply, T value, @Nullable Throwable reported) {
		// On a Cluster, the client wraps what comes from another future.
		Throwable failure = (reported instanceof CompletionException && reported.getCause() != null)
				? reported.getCause() : reported;
		if (failure == null || failure instanceof RedisCommandExecutionException) {
			this.answered = true;
		}
		else if (failure instanceof RedisCommandTimeoutException) {
			this.timedOut = true;
		}
		RedisException cause = (failure != null) ? RedisLink.named(asRedisException(failure), command) : null;
		try {
			if (this.missing.decrementAndGet() == 0) {
				this.commands = List.of();
				this.observer.ended(this.answered, this.timedOut);
			}
			if (cause != null && !this.abandoned) {
				this.observer.failed(cause);
			}
		}
		finally {
			// Also if the observer fails: a caller waits for the reply.
			if (cause != null) {
				reply.completeExceptionally(RedisLink.unavailable(cause));
			}
			else {
				reply.complete(value);
			}
		}
	}

	private RedisException asRedisException(Throwable failure) {
		if (failure instanceof RedisCommandTimeoutException) {
			return BlockingWait.noReply(this.timeout, failure);
		}
		if (this.cancelled == null && !(failure instanceof RedisCommandExecutionException)
				&& this.observer.isUnresponsive()) {
			return new RedisException("no reply within %d ms to other commands either, so the connection was closed"
				.formatted(this.timeout.toMillis()), failure);
		}
		if (failure instanceof CancellationException) {
			// Without a reason, another thread has closed the connection.
			return Objects.requireNonNullElseGet(this.cancelled,
					() -> new RedisException("the connection was closed while waiting for a reply", failure));
		}
		return (failure instanceof RedisException redis) ? redis : new RedisException(failure);
	}

	/** Observes the commands. Called on the client's threads. */
	interface Observer {

		void failed(RedisException failure);

		/** Returns whether the connection was closed because of time-outs. */
		boolean isUnresponsive();

		/** Observes that all commands have ended; an error is a reply, too. */
		void ended(boolean answered, boolean timedOut);

	}

}
