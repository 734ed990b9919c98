package io.github.shardkeeper.template;

import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender;

/**
 * The topics that records can be sent to. Replies from memory. Thread-safe.
 */
@Internal
public interface SendTopics {

	/**
	 * Returns the names of all topics, also of those that take no records.
	 * @return the names
	 */
	Set<String> names();

	/**
	 * Returns the shards of a topic that are known now.
	 * @param topic one of {@link #names()}
	 * @return the shards
	 */
	TopicShards shards(String topic);

	/**
	 * Returns the appender of a topic.
	 * @param topic one of {@link #names()}
	 * @return the appender, always the same
	 * @throws IllegalArgumentException if the topic takes no records
	 */
	ShardAppender appender(String topic);

	/**
	 * Returns topics that have one appender.
	 * @param topics returns the shards by topic
	 * @param appender the appender
	 * @return the topics
	 */
	static SendTopics of(Supplier<Map<String, TopicShards>> topics, ShardAppender appender) {
		return new SendTopics() {

			@Override
			public Set<String> names() {
				return topics.get().keySet();
			}

			@Override
			public TopicShards shards(String topic) {
				return topics.get().getOrDefault(topic, TopicShards.NONE);
			}

			@Override
			public ShardAppender appender(String topic) {
				return appender;
			}

		};
	}

}
