package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.push.PushListener;
import org.slf4j.Logger;

import io.github.shardkeeper.redis.RedisConnector.Connection;
import io.github.shardkeeper.redis.RedisFailure;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Evidence that a connection still brings something while a read blocks it. Redis replies
 * no command on it then, but pushes: the connection follows one key, with
 *
 * <pre>
 * CLIENT TRACKING ON PREFIX &lt;prefix&gt;:{&lt;topic&gt;#0}:pulse BCAST
 * </pre>
 *
 * and the reader that has heard nothing for four to five seconds writes it, on the
 * connection for data. Every reader of the topic hears that, in all processes, so that
 * one of them writes for all. Needs RESP3. Confined to the polling thread, but for
 * {@link #isHeard}, {@link #isFollowDue} and {@link #answered}, which are thread-safe.
 */
final class ReadPulse {

	private static final Logger logger = PrintableLogger.of(ReadPulse.class);

	/** Shortest time without a push after which the key is written. */
	static final Duration INTERVAL = Duration.ofSeconds(4);

	/** Largest part of it that is added at random, so that not all write at once. */
	private static final int JITTER_PART = 4;

	/**
	 * Time for which a new connection does without: nobody needs a pulse before a read
	 * has waited that long, and the first records of a shard that moves here should not
	 * wait until the classes for it are loaded.
	 */
	private static final Duration REST = FetchConnection.BLOCK;

	/** Time within which a push has to follow a write, or the connection is lost. */
	private static final Duration ANSWER = Duration.ofSeconds(3);

	/** Pause after a refusal, or on a connection that brings no push. */
	private static final Duration RETRY = Duration.ofSeconds(10);

	private static final String OPERATION = "let a blocking read wait for longer than 2 s";

	private final RedisLink<byte[]> link;

	private final Settings settings;

	/** Time without a push after which this reader writes the key. */
	private final Duration pause;

	private final LongSupplier nanoTime;

	private final Runnable onChange;

	/** Whether a push has arrived, so that the next one can be relied on. */
	private volatile boolean heard;

	/** Time of the last push or reply of this connection. */
	private volatile long evidenceAtNanos;

	private volatile boolean tracking;

	/** Whether Redis has refused the last write of the key. */
	private volatile boolean refused;

	private boolean listening;

	private volatile long followAtNanos;

	/** Time of the next write while nothing is heard. */
	private long retryAtNanos;

	private boolean waiting;

	private long sentAtNanos;

	/**
	 * Creates the pulse of a connection.
	 * @param onChange runs on any thread when {@link #beat} has something to do
	 */
	ReadPulse(RedisLink<byte[]> link, Settings settings, LongSupplier nanoTime, Runnable onChange) {
		Duration interval = settings.interval();
		this.link = link;
		this.settings = settings;
		this.pause = interval
			.plusNanos(ThreadLocalRandom.current().nextLong(interval.dividedBy(JITTER_PART).toNanos()));
		this.nanoTime = nanoTime;
		this.onChange = onChange;
		this.followAtNanos = nanoTime.getAsLong() + REST.toNanos();
		this.retryAtNanos = this.followAtNanos;
	}

	/** Follows the key, unless it is followed; the connection must not be blocked. */
	void follow(Connection<byte[]> connection) {
		if (!isFollowDue() || !(connection.stateful() instanceof StatefulRedisConnection<String, byte[]> single)) {
			return;
		}
		if (!this.listening) {
			this.listening = true;
			single.addListener((PushListener) (message) -> {
				if (message.getType().equals("invalidate")) {
					this.evidenceAtNanos = this.nanoTime.getAsLong();
					this.heard = true;
					this.onChange.run();
				}
			});
		}
		this.followAtNanos = this.nanoTime.getAsLong() + RETRY.toNanos();
		try {
			RedisFuture<String> following = connection.commands()
				.clientTracking(TrackingArgs.Builder.enabled().bcast().prefixes(this.settings.key()));
			following.whenComplete((reply, failure) -> {
				if (failure != null) {
					failed(RedisFailure.unavailable("a key cannot be followed", failure, following));
					return;
				}
				this.tracking = true;
				this.onChange.run();
			});
		}
		catch (RedisException | IllegalStateException ex) {
			// The read that follows fails as well, and tells.
			logger.debug("A connection for reading cannot follow its pulse", ex);
		}
	}

	/** Returns whether the key is not followed, and it is time to try that. */
	boolean isFollowDue() {
		return !this.tracking && this.nanoTime.getAsLong() - this.followAtNanos >= 0;
	}

	private void failed(Throwable failure) {
		logger.debug("Reads cannot block for longer than 2 s", failure);
		this.link.refusedOperations().failed(OPERATION, failure);
	}

	/**
	 * Returns whether pushes arrive, so that a read may block for as long as it likes.
	 */
	boolean isHeard() {
		return this.heard;
	}

	/** Notes a reply of the connection, which is evidence as well. */
	void answered() {
		if (this.heard) {
			this.evidenceAtNanos = this.nanoTime.getAsLong();
		}
	}

	/** Writes the key if it is time to, while a read blocks. */
	void beat() {
		long now = this.nanoTime.getAsLong();
		if (this.waiting && (this.evidenceAtNanos - this.sentAtNanos >= 0 && this.heard)) {
			this.waiting = false;
			this.link.refusedOperations().succeeded(OPERATION);
		}
		if (this.waiting && (this.refused || !this.heard && now - this.sentAtNanos > ANSWER.toNanos())) {
			this.waiting = false;
			this.heard = false;
			this.retryAtNanos = now + RETRY.toNanos();
		}
		if (this.tracking && !this.waiting && now - nextAtNanos() >= 0) {
			write(now);
		}
	}

	private long nextAtNanos() {
		return this.heard ? this.evidenceAtNanos + this.pause.toNanos() : this.retryAtNanos;
	}

	private void write(long now) {
		this.waiting = true;
		this.refused = false;
		this.sentAtNanos = now;
		this.settings.write().get().whenComplete((reply, failure) -> {
			// Without a reply this connection may be gone as well.
			if (failure != null && failure.getCause() instanceof RedisCommandExecutionException) {
				this.refused = true;
				failed(failure);
				this.onChange.run();
			}
		});
	}

	/** Returns whether a push is missing that should have arrived. */
	boolean isLost() {
		return this.waiting && this.heard && !this.refused && this.evidenceAtNanos - this.sentAtNanos < 0
				&& this.nanoTime.getAsLong() - this.sentAtNanos > ANSWER.toNanos();
	}

	/** Returns the time until the next look is due; at most that of a short read. */
	long nanosToNext() {
		long next = Long.MAX_VALUE;
		long now = this.nanoTime.getAsLong();
		if (this.waiting) {
			next = this.sentAtNanos + ANSWER.toNanos() + 1 - now;
		}
		else if (this.tracking) {
			next = nextAtNanos() - now;
		}
		return Math.max(0, Math.min(FetchConnection.BLOCK.toNanos(), next));
	}

	/**
	 * The pulse of all readers of a source. Immutable.
	 *
	 * @param key the key that they follow
	 * @param interval the shortest time without a push after which it is written
	 * @param write writes it, without waiting
	 */
	record Settings(String key, Duration interval, Supplier<CompletableFuture<?>> write) {

	}

}
