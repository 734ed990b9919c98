package io.github.shardkeeper.worker;

import io.github.shardkeeper.handler.ShardHandler;

/**
 * Objects that the parts of one worker share. Immutable.
 *
 * @param owned the shard as its handler sees it
 * @param handler the handler of its topic
 * @param settings the settings of its topic
 * @param context the context that all workers share
 * @param lifecycle the lifecycle of the shard
 * @param calls calls the application
 * @param problems the problems of the shard
 * @param wake wakes the worker
 */
record ShardScope(OwnedShard owned, ShardHandler handler, ConsumerSettings settings, WorkerContext context,
		ShardLifecycle lifecycle, HandlerCalls calls, ShardProblems problems, Runnable wake) {

	String topic() {
		return this.owned.shard().topic();
	}

}
