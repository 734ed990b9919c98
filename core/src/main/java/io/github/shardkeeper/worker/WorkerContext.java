package io.github.shardkeeper.worker;

import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;

import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.ShardConsumption;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * What all workers of an instance share. Immutable.
 *
 * @param group the group's name
 * @param checkpoints the data plane
 * @param reader where records come from
 * @param lease whether this instance may consume at all
 * @param clock the clock
 * @param wallClock tells people when something happened
 * @param executor runs the workers
 * @param timer wakes workers that wait for another attempt
 * @param mapper reads and writes the state's values
 * @param meters counts what workers do
 * @param budget what all shards together may read ahead
 * @param settings tells how a topic is consumed
 * @param events hears which shards are consumed
 * @param listener hears when a worker has ended
 * @param measuresWork whether what is done for each shard is measured
 * @param acquisitions bounds how many acquisitions are under way together
 * @param failures logs what handlers and conversions throw
 */
public record WorkerContext(String group, CheckpointStore checkpoints, ShardReader reader, Lease lease,
		MonotonicClock clock, InstantSource wallClock, Executor executor, ScheduledExecutorService timer,
		JsonMapper mapper, ConsumerMeters meters, BufferBudget budget, Function<String, ConsumerSettings> settings,
		ConsumerEvents events, ShardConsumption.Listener listener, boolean measuresWork,
		ShardAcquisition.Permits acquisitions, FailureLog failures) {

	/**
	 * Maximum number at a time: each may bring a large state, and all have one timeout.
	 */
	private static final int MAX_ACQUISITIONS = 64;

	public WorkerContext {
		meters = GuardedMeters.of(meters);
	}

	/**
	 * Creates a context with a limit for acquisitions and a log of failures of its own.
	 * @param group the group's name
	 * @param checkpoints the data plane
	 * @param reader where records come from
	 * @param lease whether this instance may consume at all
	 * @param clock the clock
	 * @param wallClock tells people when something happened
	 * @param executor runs the workers
	 * @param timer wakes workers that wait for another attempt
	 * @param mapper reads and writes the state's values
	 * @param meters counts what workers do
	 * @param budget what all shards together may read ahead
	 * @param settings tells how a topic is consumed
	 * @param events hears which shards are consumed
	 * @param listener hears when a worker has ended
	 * @param measuresWork whether what is done for each shard is measured
	 */
	public WorkerContext(String group, CheckpointStore checkpoints, ShardReader reader, Lease lease,
			MonotonicClock clock, InstantSource wallClock, Executor executor, ScheduledExecutorService timer,
			JsonMapper mapper, ConsumerMeters meters, BufferBudget budget, Function<String, ConsumerSettings> settings,
			ConsumerEvents events, ShardConsumption.Listener listener, boolean measuresWork) {
		this(group, checkpoints, reader, lease, clock, wallClock, executor, timer, mapper, meters, budget, settings,
				events, listener, measuresWork, new ShardAcquisition.Permits(MAX_ACQUISITIONS),
				new FailureLog(clock, timer));
	}

	/**
	 * Returns how a topic is consumed.
	 * @param topic the topic
	 * @return its settings
	 */
	public ConsumerSettings settings(String topic) {
		return this.settings.apply(topic);
	}

	/**
	 * Returns the same for topics of which this instance consumes every shard.
	 * @param hears hears when a worker has ended
	 * @return the other context
	 */
	public WorkerContext forBroadcast(ShardConsumption.Listener hears) {
		return new WorkerContext(this.group, this.checkpoints, this.reader, Lease.unlimited(), this.clock,
				this.wallClock, this.executor, this.timer, this.mapper, this.meters, this.budget, this.settings,
				this.events, hears, false);
	}

}
