package io.github.shardkeeper.simulation;

import java.time.Duration;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Hooks to break the protocol on purpose; the defaults change nothing.
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

	/** Changes a member's view of the topic's shards. */
	default TopicShards shards(TopicShards known) {
		return known;
	}

	/** Changes a member's view of its lease. */
	default Duration lease(Duration known) {
		return known;
	}

}
