package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.redis.RedisConnector.PubSubConnection;

/** A subscription to channels of one slot on a connection of its own. Thread-safe. */
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
	 * @throws StoreFullException when Redis refuses it at {@code maxmemory}, from 8.6 on
	 */
	public static RedisSubscription open(RedisConnector connector, String channel, Duration timeout,
			Runnable onMessage) {
		return open(connector, List.of(channel), timeout, (message) -> onMessage.run());
	}

	/**
	 * Subscribes to several channels, like
	 * {@link #open(RedisConnector, String, Duration, Runnable)}.
	 * @param onMessage called with every message
	 */
	public static RedisSubscription open(RedisConnector connector, List<String> channels, Duration timeout,
			Consumer<String> onMessage) {
		try {
			return connector.startupTimeout()
				.call(timeout, (patience) -> openInTime(connector, channels, patience, onMessage));
		}
		catch (RedisException | IllegalStateException ex) {
			// A client that is being stopped throws IllegalStateException.
			throw RedisFailure.unavailable("cannot subscribe to " + String.join(", ", channels), ex);
		}
	}

	private static RedisSubscription openInTime(RedisConnector connector, List<String> channels, Duration timeout,
			Consumer<String> onMessage) {
		PubSubConnection connection = connector.openPubSub(channels.get(0), timeout);
		connection.connection().addListener(new RedisPubSubAdapter<>() {
			@Override
			public void message(String from, String message) {
				onMessage.accept(message);
			}
		});
		RedisSubscription subscription = new RedisSubscription(connector, connection);
		subscription.subscribe(channels, timeout);
		return subscription;
	}

	private void subscribe(List<String> channels, Duration timeout) {
		RedisFuture<Void> subscribed = null;
		try {
			subscribed = this.connection.connection().async().subscribe(channels.toArray(String[]::new));
			BlockingWait.on(subscribed, timeout, (cause) -> BlockingWait.noReply(timeout, cause));
		}
		catch (RuntimeException ex) {
			close();
			throw RedisFailure.notSubscribed("cannot subscribe to " + String.join(", ", channels), ex, subscribed);
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
