package io.github.shardkeeper.consumer;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.worker.shard.ConsumerSettings;

/**
 * Settings of consumption. Immutable.
 *
 * @param totalBufferBytes the limit of what all shards together read ahead
 * @param stateCacheBytes the limit of what is in memory of all states that are read when
 * they are used
 * @param broadcastTopics the topics of which every instance consumes every shard
 * @param autoStartup returns whether a topic is consumed before somebody starts it
 * @param startsWithContext whether the context starts the runner; otherwise somebody
 * starts it later
 */
public record ConsumptionSettings(Function<String, ConsumerSettings> consumers, long totalBufferBytes,
		long stateCacheBytes, Set<String> broadcastTopics, Predicate<String> autoStartup, boolean startsWithContext) {

	public ConsumptionSettings {
		broadcastTopics = Set.copyOf(broadcastTopics);
	}

	/** Returns the handlers of topics whose shards the group shares out. */
	Map<String, ShardHandler> coordinated(Map<String, ShardHandler> handlers) {
		Map<String, ShardHandler> coordinated = new TreeMap<>(handlers);
		coordinated.keySet().removeAll(this.broadcastTopics);
		return coordinated;
	}

	/** Returns the handlers of broadcast topics. */
	Map<String, ShardHandler> broadcast(Map<String, ShardHandler> handlers) {
		Map<String, ShardHandler> broadcast = new TreeMap<>(handlers);
		broadcast.keySet().retainAll(this.broadcastTopics);
		return broadcast;
	}

	/**
	 * Checks that a handler can be called with the settings of its topic, and that the
	 * checkpoints keep what it needs.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if not
	 */
	void check(String topic, ShardHandler handler, CheckpointStore checkpoints) {
		ConsumerSettings consumer = this.consumers.apply(topic);
		boolean broadcast = this.broadcastTopics.contains(topic);
		if (checkpoints.transactions(topic) != null) {
			// First: what the others advise may be what a transaction does not permit.
			consumer.checkTransacted(handler);
		}
		consumer.check(handler);
		consumer.check(handler, checkpoints);
		consumer.checkOutput(handler, broadcast, handler.takesOutput() && checkpoints.keepsOutboxes(topic));
		consumer.checkTimers(handler, broadcast, handler.hasTimers() && checkpoints.keepsTimers(topic));
	}

}
