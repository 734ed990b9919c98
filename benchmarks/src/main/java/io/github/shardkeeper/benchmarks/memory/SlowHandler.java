package io.github.shardkeeper.benchmarks.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Heap;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Many shards with large values, and a handler that does not return: the amount that is
 * read ahead.
 *
 * @param redis its Redis
 * @param shards the number of shards
 * @param recordsPerShard the number of records in each shard
 */
record SlowHandler(RedisProcess redis, int shards, int recordsPerShard) {

	private static final int PAYLOAD_BYTES = 50_000;

	private static final long PATIENCE_SECONDS = 60;

	/** Time for reads that are still running. */
	private static final long REST_SECONDS = 5;

	List<String> measure(Consumer<String> raw) throws Exception {
		return measure(raw, REST_SECONDS);
	}

	List<String> measure(Consumer<String> raw, long restSeconds) throws Exception {
		fill();
		Blocked handler = new Blocked(new CountDownLatch(1), new CountDownLatch(1));
		long before = Heap.used();
		long during;
		try (ConfigurableApplicationContext application = Applications.start(this.redis, handler,
				Map.of("shardkeeper.group", "slow", "shardkeeper.topics.slow.shards", this.shards))) {
			if (!handler.called.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException("No record was handled");
			}
			TimeUnit.SECONDS.sleep(restSeconds);
			during = Heap.used();
			handler.released.countDown();
		}
		Samples heap = new Samples();
		heap.add(before);
		heap.add(during);
		RawFigures.add("heap before, and while it hangs (bytes)", heap, raw);
		return List.of("| %,d shards, a handler that does not return | MB |".formatted(this.shards), "|---|---:|",
				line("values that wait in Redis", (long) this.shards * this.recordsPerShard * PAYLOAD_BYTES),
				line("heap before", before), line("heap while it hangs", during),
				line("`shardkeeper.consumer.buffer.total-size`", 64L << 20));
	}

	private static String line(String what, long bytes) {
		return String.format(Locale.ROOT, "| %s | %,.1f |", what, bytes / 1048576.0);
	}

	private void fill() {
		try (ConfigurableApplicationContext application = Applications.start(this.redis, new Object(),
				Map.of("shardkeeper.group", "sender", "shardkeeper.topics.slow.shards", this.shards))) {
			for (int number = 0; number < this.recordsPerShard; number++) {
				List<NewRecord> records = new ArrayList<>();
				for (int shard = 0; shard < this.shards; shard++) {
					records.add(new NewRecord(ShardId.of("slow", shard), "key", new byte[PAYLOAD_BYTES]));
				}
				Applications.append(application, records);
			}
		}
	}

	/** Hangs until it is released, and then takes everything. */
	record Blocked(CountDownLatch called, CountDownLatch released) {

		@ShardConsumer("slow")
		public void handle(byte[] payload) throws InterruptedException {
			this.called.countDown();
			this.released.await();
		}

	}

}
