package io.github.shardkeeper.benchmarks.locks;

import java.util.Map;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.cluster.ClusterLocks;

/**
 * An application with the starter at its defaults and no topic. Has no state.
 */
final class ShardkeeperLocks {

	private ShardkeeperLocks() {
	}

	static LockClient open(int port) {
		return Applications
			.start(port, new Object(), Map.of("shardkeeper.store", "redis", "shardkeeper.group", "locks"))
			.getBean(ClusterLocks.class)::get;
	}

}
