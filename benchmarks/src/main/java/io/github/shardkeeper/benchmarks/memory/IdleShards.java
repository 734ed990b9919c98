package io.github.shardkeeper.benchmarks.memory;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Heap;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * One instance with one shard, then one with many, all acquired and without records: what
 * is more in the second one is what the shards cost. It is the leader, too.
 *
 * @param redis its Redis
 * @param shards how many
 */
record IdleShards(RedisProcess redis, int shards) {

	private static final long PATIENCE_SECONDS = 300;

	/** Long enough for threads that have become idle to end. */
	private static final long REST_SECONDS = 40;

	private static final long COUNTING_SECONDS = 10;

	List<String> measure() throws Exception {
		return measure(REST_SECONDS, COUNTING_SECONDS);
	}

	List<String> measure(long restSeconds, long countingSeconds) throws Exception {
		Cost one = cost(1, restSeconds, countingSeconds);
		Cost many = cost(this.shards, restSeconds, countingSeconds);
		return List.of("| one instance, nothing to do | 1 shard | %,d shards |".formatted(this.shards),
				"|---|---:|---:|", line("heap, bytes", "%,.0f", one.heap, many.heap),
				String.format(Locale.ROOT, "| heap per shard, bytes | | %,.0f |",
						(many.heap - one.heap) / Math.max(1, this.shards - 1)),
				line("threads", "%.0f", one.threads, many.threads),
				line("connections to Redis", "%.0f", one.connections, many.connections),
				line("commands per second", "%.1f", one.commandsPerSecond, many.commandsPerSecond),
				line("processor time per second, ms", "%.1f", one.processorMillis, many.processorMillis),
				line("seconds until all are consumed", "%.1f", one.seconds, many.seconds));
	}

	private static String line(String what, String format, double one, double many) {
		return String.format(Locale.ROOT, "| %s | " + format + " | " + format + " |", what, one, many);
	}

	private Cost cost(int count, long restSeconds, long countingSeconds) throws Exception {
		String topic = "idle-" + count;
		Waiting handler = new Waiting(new CountDownLatch(count));
		double connectionsBefore = figure("clients", "connected_clients");
		long begun = System.nanoTime();
		try (ConfigurableApplicationContext application = Applications.start(this.redis, handler,
				Map.of("shardkeeper.group", "idle", "shardkeeper.topics." + topic + ".shards", count, "benchmark.topic",
						topic))) {
			if (!handler.missing.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException(handler.missing.getCount() + " shards were not acquired");
			}
			double seconds = (System.nanoTime() - begun) / 1e9;
			TimeUnit.SECONDS.sleep(restSeconds);
			double commands = figure("stats", "total_commands_processed");
			long processor = processorNanos();
			TimeUnit.SECONDS.sleep(countingSeconds);
			double processorMillis = (processorNanos() - processor) / 1e6 / countingSeconds;
			double perSecond = (figure("stats", "total_commands_processed") - commands) / countingSeconds;
			return new Cost(Heap.used(), ManagementFactory.getThreadMXBean().getThreadCount(),
					figure("clients", "connected_clients") - connectionsBefore, perSecond, processorMillis, seconds);
		}
	}

	private static long processorNanos() {
		return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
	}

	private double figure(String section, String name) {
		Matcher figure = Pattern.compile(name + ":(\\d+)").matcher(this.redis.info(section));
		if (!figure.find()) {
			throw new IllegalStateException("Redis does not tell its " + name);
		}
		return Double.parseDouble(figure.group(1));
	}

	private record Cost(double heap, double threads, double connections, double commandsPerSecond,
			double processorMillis, double seconds) {

	}

	/** Waits for records that never come. */
	record Waiting(CountDownLatch missing) {

		@OnShardAssigned
		public void assigned(ShardContext shard) {
			this.missing.countDown();
		}

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload) {
			throw new IllegalStateException("There are no records");
		}

	}

}
