package io.github.shardkeeper.benchmarks.scale;

import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.Table;

/**
 * Heartbeats of all members, and the load of Redis and of the process with all the
 * members, by phase. Thread-safe for heartbeats, otherwise confined to one thread.
 */
final class Costs {

	private final RedisFigures redis;

	private final Table table = new Table("while", "heartbeats per second",
			"ms until a heartbeat is answered: p50 / p99 / max", "Redis, processors", "all members, processors");

	private Samples heartbeatMillis = new Samples();

	private long begun;

	private double redisMillis;

	private long ownNanos;

	Costs(RedisFigures redis) {
		this.redis = redis;
		begin();
	}

	synchronized void heartbeat(double millis) {
		this.heartbeatMillis.add(millis);
	}

	private synchronized Samples takeHeartbeats() {
		Samples taken = this.heartbeatMillis;
		this.heartbeatMillis = new Samples();
		return taken;
	}

	void begin() {
		takeHeartbeats();
		this.begun = System.nanoTime();
		this.redisMillis = this.redis.processorMillis();
		this.ownNanos = Machine.processorNanos();
	}

	/** Ends a phase, and begins the next one. */
	void end(String phase) {
		double millis = (System.nanoTime() - this.begun) / 1e6;
		Samples heartbeats = takeHeartbeats();
		this.table.row(phase, heartbeats.values().size() / millis * 1000,
				"%.2f / %.2f / %.1f".formatted(heartbeats.median(), heartbeats.quantile(0.99), heartbeats.highest()),
				(this.redis.processorMillis() - this.redisMillis) / millis,
				(Machine.processorNanos() - this.ownNanos) / 1e6 / millis);
		begin();
	}

	Table table() {
		return this.table;
	}

}
