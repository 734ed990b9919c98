package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Hears which members of a group are notified, by a pattern, which counts for none of
 * them as a subscription. Confined to the test's thread.
 */
final class NotificationObserver implements AutoCloseable {

	private final RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", EmbeddedRedis.shared().port()));

	private final StatefulRedisPubSubConnection<String, String> subscription = this.client.connectPubSub();

	private final StatefulRedisConnection<String, String> connection = this.client.connect();

	private final BlockingQueue<String> channels = new LinkedBlockingQueue<>();

	private final String start;

	NotificationObserver(String baseKey) {
		this.start = baseKey + ":member:";
		this.subscription.addListener(new RedisPubSubAdapter<>() {
			@Override
			public void message(String pattern, String channel, String message) {
				// Members also publish to themselves, which notifies nobody.
				if (!message.equals("=")) {
					NotificationObserver.this.channels.add(channel);
				}
			}
		});
		this.subscription.sync().psubscribe(this.start + "*");
	}

	/** The members that were notified since the last call, each once. */
	Set<String> heard() {
		String marker = this.start + "nobody";
		this.connection.sync().publish(marker, "!");
		List<String> heard = new ArrayList<>();
		for (String channel = next(); !channel.equals(marker); channel = next()) {
			heard.add(channel.substring(this.start.length()));
		}
		return new LinkedHashSet<>(heard);
	}

	private String next() {
		try {
			String channel = this.channels.poll(10, TimeUnit.SECONDS);
			if (channel == null) {
				throw new AssertionError("The marker did not come back");
			}
			return channel;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** Waits until Redis sees as many subscriptions to a member's channel. */
	void awaitSubscriptions(String member, long count) {
		String channel = this.start + member;
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
		while (this.connection.sync().pubsubNumsub(channel).get(channel) != count) {
			if (System.nanoTime() > deadline) {
				throw new AssertionError("Not " + count + " subscriptions of " + member);
			}
		}
	}

	@Override
	public void close() {
		this.subscription.close();
		this.connection.close();
		this.client.shutdown(0, 5, TimeUnit.SECONDS);
	}

}
