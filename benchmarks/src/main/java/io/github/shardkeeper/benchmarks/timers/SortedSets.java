package io.github.shardkeeper.benchmarks.timers;

import java.time.Instant;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ZSetOperations;
import org.springframework.data.redis.core.ZSetOperations.TypedTuple;

import io.github.shardkeeper.benchmarks.RedisStreams;

/**
 * A sorted set per shard, as applications write it themselves: a timer is added by
 * {@code ZADD}; a thread per set reads up to 100 that are due, handles them and removes
 * them, and pauses for 10 ms if there are none. Not fenced: with a second instance,
 * timers would fire in both.
 */
final class SortedSets {

	private static final int AT_ONCE = 100;

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private final Alarms alarms;

	private final LettuceConnectionFactory connections;

	private final ZSetOperations<String, String> sets;

	private final StreamThreads threads;

	SortedSets(int redis, int shards, Alarms alarms) {
		this.alarms = alarms;
		this.connections = RedisStreams.connect(redis, false, 0);
		this.sets = new StringRedisTemplate(this.connections).opsForZSet();
		this.threads = new StreamThreads(redis);
		for (int shard = 0; shard < shards; shard++) {
			String key = "timers:" + shard;
			this.threads.read(shard, (payload) -> set(key, payload));
			this.threads.start(() -> poll(key));
		}
	}

	private void set(String key, byte[] payload) {
		this.sets.add(key, String.valueOf(Scheduler.number(payload)), this.alarms.due().toEpochMilli());
		this.alarms.set();
	}

	private void poll(String key) {
		while (!this.threads.isClosed()) {
			Set<TypedTuple<String>> due = this.sets.rangeByScoreWithScores(key, 0, System.currentTimeMillis(), 0,
					AT_ONCE);
			if (due.isEmpty()) {
				LockSupport.parkNanos(PAUSE_NANOS);
				continue;
			}
			due.forEach((timer) -> this.alarms.fired(Integer.parseInt(timer.getValue()),
					Instant.ofEpochMilli(timer.getScore().longValue())));
			this.sets.remove(key, due.stream().map(TypedTuple::getValue).toArray());
		}
	}

	void close() {
		this.threads.close();
		this.connections.destroy();
	}

}
