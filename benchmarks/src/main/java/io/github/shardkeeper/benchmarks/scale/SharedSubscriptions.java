package io.github.shardkeeper.benchmarks.scale;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisClient;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;

/**
 * Channels of many members on one connection. Thread-safe.
 */
final class SharedSubscriptions implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 5;

	private final StatefulRedisPubSubConnection<String, String> connection;

	private final Map<String, Runnable> listeners = new ConcurrentHashMap<>();

	SharedSubscriptions(RedisClient client) {
		this.connection = client.connectPubSub();
		this.connection.addListener(new RedisPubSubAdapter<>() {

			@Override
			public void message(String channel, String message) {
				Runnable listener = SharedSubscriptions.this.listeners.get(channel);
				if (listener != null) {
					listener.run();
				}
			}

		});
	}

	Subscription open(String channel, Runnable onEvent) {
		this.listeners.put(channel, onEvent);
		await(this.connection.async().subscribe(channel));
		return new Subscription() {

			@Override
			public boolean isOpen() {
				return SharedSubscriptions.this.listeners.containsKey(channel);
			}

			@Override
			public void close() {
				// As if its own connection were closed: Redis knows at once.
				if (SharedSubscriptions.this.listeners.remove(channel) != null) {
					SharedSubscriptions.this.connection.async().unsubscribe(channel);
				}
			}

		};
	}

	private static void await(Future<Void> reply) {
		try {
			reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw new StoreUnavailableException("Cannot subscribe", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Interrupted while subscribing", ex);
		}
	}

	@Override
	public void close() {
		this.connection.close();
	}

}
