package io.github.shardkeeper.benchmarks.timers;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Contender;

/**
 * Ways to set a timer in Redis for each record of some streams, and to have it fire.
 */
enum Scheduler implements Contender {

	/** An application with the starter, at its defaults. */
	SHARDKEEPER("Shardkeeper, `@OnShardTimer`") {

		@Override
		Runnable start(int redis, int shards, Alarms alarms) {
			return Applications.start(redis, new Handler(alarms), properties("timers", shards))::close;
		}

	},

	SORTED_SET("Spring Data Redis, a sorted set by hand") {

		@Override
		Runnable start(int redis, int shards, Alarms alarms) {
			return new SortedSets(redis, shards, alarms)::close;
		}

	},

	REDISSON("Redisson RDelayedQueue") {

		@Override
		Runnable start(int redis, int shards, Alarms alarms) {
			return new DelayedQueues(redis, shards, alarms)::close;
		}

	};

	static final String TOPIC = "timers";

	private final String text;

	Scheduler(String text) {
		this.text = text;
	}

	@Override
	public String text() {
		return this.text;
	}

	/** Has it read the streams from their beginning; returns an action that ends it. */
	abstract Runnable start(int redis, int shards, Alarms alarms);

	static Map<String, Object> properties(String group, int shards) {
		return Map.of("shardkeeper.group", group, "shardkeeper.topics." + TOPIC + ".shards", shards);
	}

	/** Returns the payload of the record that sets a timer. */
	static byte[] payload(int number) {
		return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
	}

	static int number(byte[] payload) {
		return ByteBuffer.wrap(payload).getInt();
	}

	/** Each record sets a timer of a key of its own. */
	private record Handler(Alarms alarms) {

		@ShardConsumer(TOPIC)
		public void set(byte[] payload, ShardTimers timers) {
			Instant due = this.alarms.due();
			timers.set(String.valueOf(number(payload)), "alarm", due);
			this.alarms.set();
		}

		@OnShardTimer
		public void fired(ShardTimer timer) {
			this.alarms.fired(Integer.parseInt(timer.key()), timer.dueAt());
		}

	}

}
