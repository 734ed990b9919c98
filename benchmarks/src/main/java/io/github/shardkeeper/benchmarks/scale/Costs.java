package io.github.shardkeeper.benchmarks.scale;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * Load of Redis and of the process with all the members, by phase. Confined to its
 * thread.
 */
final class Costs {

	private final RedisFigures redis;

	private final RedisProcess process;

	private final Group group;

	private final List<String> lines = new ArrayList<>(List.of(
			"| while | heartbeats per second | ms until a heartbeat is answered: median | 99 % | longest | Redis, processors | Redis waits for a processor, ms per second | all members, processors |",
			"|---|---:|---:|---:|---:|---:|---:|---:|"));

	private long begun;

	private double redisMillis;

	private double waitedMillis;

	private double ownMillis;

	Costs(RedisProcess process, RedisFigures redis, Group group) {
		this.process = process;
		this.redis = redis;
		this.group = group;
		begin();
	}

	void begin() {
		this.group.times().takeHeartbeatMillis();
		this.begun = System.nanoTime();
		this.redisMillis = this.redis.processorMillis();
		this.waitedMillis = this.process.waitedMillis();
		this.ownMillis = ownProcessorMillis();
	}

	void take(String phase) {
		double millis = (System.nanoTime() - this.begun) / 1e6;
		Samples beats = this.group.times().takeHeartbeatMillis();
		this.lines.add(String.format(Locale.ROOT, "| %s | %,.0f | %.2f | %.2f | %.1f | %.2f | %.0f | %.2f |", phase,
				beats.values().size() / millis * 1000, beats.median(), beats.quantile(0.99), beats.highest(),
				(this.redis.processorMillis() - this.redisMillis) / millis,
				(this.process.waitedMillis() - this.waitedMillis) / millis * 1000,
				(ownProcessorMillis() - this.ownMillis) / millis));
	}

	List<String> lines() {
		return this.lines;
	}

	private static double ownProcessorMillis() {
		return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime()
				/ 1e6;
	}

}
