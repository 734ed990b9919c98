package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.store.CoordinationStore.Hearing;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisSubscription;

/**
 * Subscription of a member to its channel. A connection may be open, and Redis may count
 * it, while nothing arrives on it any more: so after 5 s without a message the member's
 * heartbeat publishes one to it, {@code PUBLISH <channel> =}. Thread-safe.
 */
final class MemberSubscription implements Subscription {

	/** Message of the member to itself, as in heartbeat.lua; any other is an event. */
	private static final String ECHO = "=";

	private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();

	/** Time from the heartbeat's reply after which the message is lost. */
	private static final long LIMIT_NANOS = Duration.ofSeconds(1).toNanos();

	private final Runnable onEvent;

	private final LongSupplier nanoTime;

	private @Nullable RedisSubscription subscription;

	/** Guarded by this, as is all below. */
	private boolean heard;

	private long heardAtNanos;

	/** Whether a message to itself was published, and has not arrived. */
	private boolean expecting;

	private long publishedAtNanos;

	MemberSubscription(Runnable onEvent, LongSupplier nanoTime) {
		this.onEvent = onEvent;
		this.nanoTime = nanoTime;
	}

	/** Subscribes. Call it once, before anything else. */
	void open(RedisConnector connector, String channel, Duration timeout) {
		this.subscription = RedisSubscription.open(connector, List.of(channel), timeout, this::received);
	}

	void received(String message) {
		synchronized (this) {
			this.heard = true;
			this.heardAtNanos = this.nanoTime.getAsLong();
			this.expecting = false;
		}
		if (!message.equals(ECHO)) {
			this.onEvent.run();
		}
	}

	/** Returns whether the next heartbeat is to publish a message to the member. */
	synchronized boolean wantsEcho() {
		return !this.expecting && (!this.heard || this.nanoTime.getAsLong() - this.heardAtNanos >= INTERVAL_NANOS);
	}

	/**
	 * Notes that it was published.
	 * @param wantedAtNanos the time before the heartbeat was sent
	 */
	synchronized void echoPublished(long wantedAtNanos) {
		// It may have arrived before the reply.
		if (!this.heard || this.heardAtNanos - wantedAtNanos < 0) {
			this.expecting = true;
			this.publishedAtNanos = this.nanoTime.getAsLong();
		}
	}

	@Override
	public boolean isOpen() {
		return Objects.requireNonNull(this.subscription).isOpen();
	}

	@Override
	public synchronized Hearing hearing() {
		if (this.expecting && this.nanoTime.getAsLong() - this.publishedAtNanos > LIMIT_NANOS) {
			return Hearing.DEAF;
		}
		return this.heard ? Hearing.HEARS : Hearing.UNKNOWN;
	}

	@Override
	public void close() {
		Objects.requireNonNull(this.subscription).close();
	}

}
