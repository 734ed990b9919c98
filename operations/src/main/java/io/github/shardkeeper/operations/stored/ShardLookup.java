package io.github.shardkeeper.operations.stored;

import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Looks up the shards that a call names, and rejects unknown ones. Thread-safe.
 */
public final class ShardLookup {

	private final SourceRegistry sources;

	/** For messages. */
	private final String caller;

	public ShardLookup(SourceRegistry sources, String caller) {
		this.sources = sources;
		this.caller = caller;
	}

	/**
	 * Returns the shards of a topic.
	 * @throws ShardkeeperConfigurationException if there is no such topic
	 * @throws StoreUnavailableException if their number is not known yet
	 */
	public SortedSet<ShardId> of(String topic) {
		Map<String, TopicShards> topics = this.sources.topics();
		TopicShards known = topics.get(topic);
		if (known == null) {
			throw ShardkeeperConfigurationException.unknownTopic(this.caller, topic, topics.keySet());
		}
		if (known == TopicShards.NONE) {
			String problem = this.sources.problems().get(topic);
			throw new StoreUnavailableException(
					"It is not known yet how many shards '%s' has: %s".formatted(topic,
							(problem != null) ? problem : "the store has not answered; try again"),
					null, problem != null);
		}
		SortedSet<ShardId> shards = new TreeSet<>();
		known.forEach(topic, shards::add);
		return shards;
	}

	/**
	 * Checks that a shard exists.
	 * @throws IllegalArgumentException if it does not exist
	 * @throws ShardkeeperConfigurationException if there is no such topic
	 */
	void require(ShardId shard) {
		SortedSet<ShardId> known = of(shard.topic());
		if (!known.contains(shard)) {
			throw new IllegalArgumentException("There is no shard %s; the topic has %s".formatted(shard,
					known.isEmpty() ? "none" : known.first() + " to " + known.last()));
		}
	}

}
