package io.github.shardkeeper.worker;

import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.output.ShardOutbox;
import io.github.shardkeeper.worker.ConsumerMeters.TopicMeters;

/**
 * Objects that the parts of one worker share. Immutable.
 */
record ShardScope(OwnedShard owned, ShardHandler handler, ConsumerSettings settings, WorkerContext context,
		ShardLifecycle lifecycle, HandlerCalls calls, ShardTurns turns, ShardProblems problems,
		MeterGuard<TopicMeters> meters, ShardOutbox outbox, Runnable wake) {

	String topic() {
		return this.owned.shard().topic();
	}

}
