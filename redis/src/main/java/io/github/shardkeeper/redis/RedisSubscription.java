package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector.PubSubConnection;

/** A subscription to one channel on a connection of its own. Thread-safe. */
public final class RedisSubscription implements AutoCloseable {

	private final RedisConnector connector;

	private final PubSubConnection connection;

	private final AtomicBoolean closed = new AtomicBoolean();

	private RedisSubscription(RedisConnector connector, PubSubConnection connection) {
		this.connector = connector;
		this.connection = connection;
	}

	/**
	 * Subscribes, and waits until Redis has confirmed it.
	 * @param onMessage called on a thread of the client for every message; must not block
	 * @throws StoreUnavailableException when Redis does not confirm in time
	 */
	public static RedisSubscription open(RedisConnector connector, String channel, Duration timeout,
			Runnable onMessage) {
		try {
			return connector.startupTimeout()
				.call(timeout, (patience) -> openInTime(connector, channel, patience, onMessage));
		}
		catch (RedisException | IllegalStateException ex) {
			// A client that is being stopped throws IllegalStateException.
			throw RedisFailure.unavailable("cannot subscribe to " + channel, ex);
		}
	}

	private static RedisSubscription openInTime(RedisConnector connector, String channel, Duration timeout,
			Runnable onMessage) {
		PubSubConnection connection = connector.openPubSub(channel, timeout);
		connection.connection().addListener(new RedisPubSubAdapter<>() {
			@Override
			public void message(String from, String message) {
				onMessage.run();
			}
		});
		RedisSubscription subscription = new RedisSubscription(connector, connection);
		subscription.subscribe(channel, timeout);
		return subscription;
	}

	private void subscribe(String channel, Duration timeout) {
		RedisFuture<Void> subscribed = null;
		try {
			subscribed = this.connection.connection().async().subscribe(channel);
			BlockingWait.on(subscribed, timeout, (cause) -> BlockingWait.noAnswer(timeout, cause));
		}
		catch (RuntimeException ex) {
			close();
			throw RedisFailure.unavailable("cannot subscribe to " + channel, ex, subscribed);
		}
	}

	/**
	 * Returns whether the connection is open; on a Cluster, at the node that serves the
	 * channel's slot. At another node it receives messages, but scripts do not count it.
	 */
	public boolean isOpen() {
		return !this.closed.get() && this.connection.connection().isOpen()
				&& this.connection.isAtMaster().getAsBoolean();
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.connector.close(this.connection.toClose());
		}
	}

}
