package io.github.shardkeeper.consumer;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Objects that all runs of an instance share. Immutable.
 *
 * @param agreement reached before anything is consumed
 * @param startPositions the start positions of shards that have no offset
 * @param lease the lease; without it nothing is consumed
 * @param threads the threads that handlers run on, and the clock on the wall
 * @param outputs where the records go that handlers send as parts of their calls
 * @param states what the application wants of its topics
 */
record InstanceParts(ShardCoordinator coordinator, SettingsAgreement agreement, SourceRegistry sources,
		StartPositions startPositions, CheckpointStore checkpoints, Lease lease, MemberRuntime runtime,
		ConsumerRuntime threads, ConsumptionSettings settings, StateValues stateValues, ConsumerMeters meters,
		ConsumerEvents events, OutputSettings outputs, ConsumerStates states) {

	MonotonicClock clock() {
		return this.runtime.clock();
	}

	/** Returns what the workers of a run share. */
	WorkerContext workerContext(ConsumerRuntime.Running running, ShardReaders readers) {
		return new WorkerContext(this.coordinator.settings().group(),
				new WorkerContext.Stores(this.checkpoints, readers, this.outputs),
				new WorkerContext.Runtime(clock(), this.threads.wallClock(), running.executor(), running.timer()),
				new WorkerContext.Topics(this.settings.consumers(), new BufferBudget(this.settings.totalBufferBytes()),
						new StateCache(this.settings.stateCacheBytes()), this.stateValues),
				new WorkerContext.Observers(this.meters, this.events, this.coordinator.consumptionListener(),
						this.coordinator.measuresLoads()),
				this.lease);
	}

}
