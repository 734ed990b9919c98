package io.github.shardkeeper.benchmarks.idle;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.Monitor;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * Cost of a process that waits for records. Confined to its thread.
 */
final class Cost {

	private final Samples bytesPerSecond = new Samples();

	private final Samples processorMillis = new Samples();

	private final Samples redisMillis = new Samples();

	private double heap;

	private double threads;

	private double connections;

	private double commandsPerSecond;

	private String commands = "";

	/**
	 * Measures one.
	 * @param contender the contender
	 * @param streams the number of streams or shards
	 * @param times the durations
	 * @param redis their Redis
	 */
	static Cost measure(Contender contender, int streams, Times times, RedisProcess redis) throws Exception {
		Cost cost = new Cost();
		try (RedisFigures figures = new RedisFigures(redis)) {
			double connectionsBefore = figures.of("clients", "connected_clients");
			try (ChildProcess process = contender.start(redis, streams)) {
				process.await();
				TimeUnit.SECONDS.sleep(times.restSeconds());
				cost.connections = figures.of("clients", "connected_clients") - connectionsBefore;
				for (int i = 0; i < times.windows(); i++) {
					cost.window(process, figures, times.windowSeconds());
				}
				cost.count(Monitor.watch(redis.port(), times.monitorSeconds()), times.monitorSeconds());
				Map<String, Double> told = process.requestFigures();
				cost.heap = told.get("heap");
				cost.threads = told.get("threads");
			}
		}
		return cost;
	}

	private void window(ChildProcess process, RedisFigures redis, long seconds) throws InterruptedException {
		// The same requests follow at the end, so that their cost cancels out.
		double first = bytes(redis);
		double redisProcessor = redis.processorMillis();
		double bytes = bytes(redis);
		double own = bytes - first;
		double processor = process.processorTime().toNanos() / 1e6;
		long begun = System.nanoTime();
		TimeUnit.SECONDS.sleep(seconds);
		double took = (System.nanoTime() - begun) / 1e9;
		this.processorMillis.add((process.processorTime().toNanos() / 1e6 - processor) / took);
		this.redisMillis.add((redis.processorMillis() - redisProcessor) / took);
		this.bytesPerSecond.add((bytes(redis) - bytes - own) / took);
	}

	private static double bytes(RedisFigures redis) {
		return redis.of("stats", "total_net_input_bytes") + redis.of("stats", "total_net_output_bytes");
	}

	private void count(Map<String, Integer> sent, double seconds) {
		this.commandsPerSecond = sent.values().stream().mapToInt(Integer::intValue).sum() / seconds;
		this.commands = sent.entrySet()
			.stream()
			.map((command) -> "%s %.1f".formatted(command.getKey(), command.getValue() / seconds))
			.collect(Collectors.joining(", "));
	}

	Samples bytesPerSecond() {
		return this.bytesPerSecond;
	}

	Samples processorMillis() {
		return this.processorMillis;
	}

	Samples redisMillis() {
		return this.redisMillis;
	}

	double heap() {
		return this.heap;
	}

	double threads() {
		return this.threads;
	}

	double connections() {
		return this.connections;
	}

	double commandsPerSecond() {
		return this.commandsPerSecond;
	}

	/** Returns the commands with their rates per second. */
	String commands() {
		return this.commands;
	}

	/**
	 * Durations of the measurement.
	 *
	 * @param restSeconds before, so that threads that have become idle end
	 * @param windows the number of measurements of bytes and processor time
	 * @param windowSeconds the duration of each; a multiple of the two seconds that a
	 * blocking read waits, or a part of one is measured
	 * @param monitorSeconds the time for which commands are counted after that, likewise
	 */
	record Times(long restSeconds, int windows, long windowSeconds, long monitorSeconds) {

	}

}
