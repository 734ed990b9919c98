package io.github.shardkeeper.consumer;

import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource;

/**
 * The shards that a source has, for those whom an application asks about some of them.
 * Thread-safe.
 */
final class KnownShards {

	private final ShardSource source;

	/** Who asks, for messages. */
	private final String asker;

	KnownShards(ShardSource source, String asker) {
		this.source = source;
		this.asker = asker;
	}

	/**
	 * The shards of a topic.
	 * @throws ShardkeeperConfigurationException when there is no such topic
	 * @throws StoreUnavailableException when it is not known how many it has
	 */
	SortedSet<ShardId> of(String topic) {
		Map<String, TopicShards> topics = this.source.topics();
		TopicShards known = topics.get(topic);
		if (known == null) {
			throw ShardkeeperConfigurationException.unknownTopic(this.asker, topic, topics.keySet());
		}
		if (known == TopicShards.NONE) {
			String problem = this.source.problems().get(topic);
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
	 * Checks that there is a shard.
	 * @throws IllegalArgumentException when there is none
	 * @throws ShardkeeperConfigurationException when there is no such topic
	 */
	void require(ShardId shard) {
		SortedSet<ShardId> known = of(shard.topic());
		if (!known.contains(shard)) {
			throw new IllegalArgumentException("There is no shard %s; the topic has %s".formatted(shard,
					known.isEmpty() ? "none" : known.first() + " to " + known.last()));
		}
	}

}
