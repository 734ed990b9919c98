package io.github.shardkeeper.operations.stored;

import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Numbers of shards of the topics of all sources: passes each call on to the topic's
 * source. Thread-safe.
 */
public final class RoutingShardTopics implements ShardTopics {

	private final SourceRegistry sources;

	private final Function<String, @Nullable ShardTopics> ofTopic;

	/**
	 * Creates the numbers of all topics.
	 * @param sources the sources of the topics
	 * @param ofTopic finds what reads and raises the number of a topic; null if its
	 * source cannot be raised
	 */
	public RoutingShardTopics(SourceRegistry sources, Function<String, @Nullable ShardTopics> ofTopic) {
		this.sources = sources;
		this.ofTopic = ofTopic;
	}

	@Override
	public int shards(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		ShardTopics topics = find(topic);
		return (topics != null) ? topics.shards(topic)
				: this.sources.of(topic).topics().getOrDefault(topic, TopicShards.NONE).size();
	}

	@Override
	public int raise(String topic, int shards) {
		Objects.requireNonNull(topic, "topic must not be null");
		ShardTopics topics = find(topic);
		if (topics == null) {
			throw new ShardkeeperConfigurationException("The source '%s' of topic '%s' decides on its shards itself."
				.formatted(this.sources.name(topic), topic), "Add the shards where the source is configured.");
		}
		return topics.raise(topic, shards);
	}

	private @Nullable ShardTopics find(String topic) {
		if (!this.sources.names().contains(topic)) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTopics", topic,
					new TreeSet<>(this.sources.names()));
		}
		return this.ofTopic.apply(topic);
	}

}
