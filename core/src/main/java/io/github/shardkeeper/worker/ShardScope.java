package io.github.shardkeeper.worker;

import io.github.shardkeeper.handler.ShardHandler;

/**
 * What the parts of one shard's worker share. Immutable.
 *
 * @param owned the shard as its handler sees it
 * @param handler its handler
 * @param settings how its topic is consumed
 * @param context what all workers share
 * @param lifecycle whether it is consumed, leaving or lost
 * @param calls calls the application
 * @param problems what holds the worker up
 * @param wake wakes the worker
 */
record ShardScope(OwnedShard owned, ShardHandler handler, ConsumerSettings settings, WorkerContext context,
		ShardLifecycle lifecycle, HandlerCalls calls, ShardProblems problems, Runnable wake) {

	String topic() {
		return this.owned.shard().topic();
	}

}
