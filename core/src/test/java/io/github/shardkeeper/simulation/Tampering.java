package io.github.shardkeeper.simulation;

import java.time.Duration;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.ShardConsumption;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Breaks the protocol on purpose, for tests that want to see it found; by default
 * nothing.
 */
interface Tampering {

	/** Leaves everything as it is. */
	Tampering NONE = new Tampering() {
	};

	default CoordinationStore coordination(CoordinationStore store) {
		return store;
	}

	default CheckpointStore checkpoints(CheckpointStore store) {
		return store;
	}

	default ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
		return consumption;
	}

	/** What a member knows of the topic's shards. */
	default TopicShards shards(TopicShards known) {
		return known;
	}

	/** What the member takes for its lease. */
	default Duration lease(Duration known) {
		return known;
	}

}
