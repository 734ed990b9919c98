package io.github.shardkeeper.benchmarks.timers;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A delayed queue of Redisson per shard, and a thread that takes what is due. A timer is
 * gone from Redis before it is handled. Deprecated by Redisson for a queue of its paid
 * edition.
 */
@SuppressWarnings("deprecation")
final class DelayedQueues {

	private static final String SEPARATOR = "@";

	private final Alarms alarms;

	private final RedissonClient client;

	private final StreamThreads threads;

	DelayedQueues(int redis, int shards, Alarms alarms) {
		this.alarms = alarms;
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + redis);
		this.client = Redisson.create(config);
		this.threads = new StreamThreads(redis);
		for (int shard = 0; shard < shards; shard++) {
			RBlockingQueue<String> due = this.client.getBlockingQueue("timers:" + shard, StringCodec.INSTANCE);
			RDelayedQueue<String> delayed = this.client.getDelayedQueue(due);
			this.threads.read(shard, (payload) -> set(delayed, payload));
			this.threads.start(() -> take(due));
		}
	}

	private void set(RDelayedQueue<String> delayed, byte[] payload) {
		Instant due = this.alarms.due();
		// Rounded up: never early.
		long delay = Math.max(0, Duration.between(Instant.now(), due).toMillis() + 1);
		delayed.offer(Scheduler.number(payload) + SEPARATOR + due.toEpochMilli(), delay, TimeUnit.MILLISECONDS);
		this.alarms.set();
	}

	private void take(RBlockingQueue<String> due) {
		try {
			while (!this.threads.isClosed()) {
				String[] timer = due.take().split(SEPARATOR);
				this.alarms.fired(Integer.parseInt(timer[0]), Instant.ofEpochMilli(Long.parseLong(timer[1])));
			}
		}
		catch (InterruptedException ex) {
			// It is closed.
		}
	}

	void close() {
		this.threads.close();
		this.client.shutdown();
	}

}
