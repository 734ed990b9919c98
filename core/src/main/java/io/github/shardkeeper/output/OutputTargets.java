package io.github.shardkeeper.output;

import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Topics to which handlers send as parts of their calls. Thread-safe.
 */
public interface OutputTargets {

	/**
	 * Chooses the shard of a record and converts its payload.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is unknown, or its source does not append records once
	 */
	NewRecord prepare(String topic, Outgoing outgoing);

	/**
	 * Returns the appender of a topic.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is unknown, or its source does not append records once
	 */
	SequencedAppender appender(String topic);

}
