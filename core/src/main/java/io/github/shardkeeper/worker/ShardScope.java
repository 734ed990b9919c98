package io.github.shardkeeper.worker;

import io.github.shardkeeper.handler.ShardHandler;

/**
 * Objects that the parts of one worker share. Immutable.
 */
record ShardScope(OwnedShard owned, ShardHandler handler, ConsumerSettings settings, WorkerContext context,
		ShardLifecycle lifecycle, HandlerCalls calls, ShardProblems problems, Runnable wake) {

	String topic() {
		return this.owned.shard().topic();
	}

}
