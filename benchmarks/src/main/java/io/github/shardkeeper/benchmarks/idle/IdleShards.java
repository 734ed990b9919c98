package io.github.shardkeeper.benchmarks.idle;

import java.util.Map;
import java.util.concurrent.CountDownLatch;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.benchmarks.Applications;

/**
 * An instance with the starter at its defaults, a group of its own, which it leads, and a
 * topic whose shards are all acquired.
 */
final class IdleShards {

	private IdleShards() {
	}

	/**
	 * Runs it.
	 * @param arguments the port of Redis, and the number of shards
	 */
	public static void main(String[] arguments) throws Exception {
		int shards = Integer.parseInt(arguments[1]);
		Waiting handler = new Waiting(new CountDownLatch(shards));
		Applications.start(Integer.parseInt(arguments[0]), handler, Map.of("shardkeeper.group", "idle-" + shards,
				"shardkeeper.topics.idle.shards", shards, "shardkeeper.key-prefix", "idle-" + shards));
		handler.missing.await();
		IdleFigures.tell();
	}

	/** Waits for records that never come. */
	record Waiting(CountDownLatch missing) {

		@OnShardAssigned
		public void assigned(ShardContext shard) {
			this.missing.countDown();
		}

		@ShardConsumer("idle")
		public void handle(byte[] payload) {
			throw new IllegalStateException("There are no records");
		}

	}

}
