package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * The groups that consume a topic, and how far they are: so that nothing is taken from it
 * that one of them still needs. Every method may throw
 * {@link io.github.shardkeeper.StoreUnavailableException}, and may be repeated.
 * Thread-safe.
 */
public interface TopicGroups extends AutoCloseable {

	/**
	 * Makes known, for ever, that this group consumes topics.
	 * @param topics the topics
	 */
	void register(Collection<String> topics);

	/**
	 * Claims to be the one that trims a topic for some time.
	 * @param topic the topic
	 * @param interval how long nobody else does
	 * @return whether this one is it
	 */
	boolean claimTrimming(String topic, Duration interval);

	/**
	 * Reads how far all groups are with the shards of a topic.
	 * @param topic the topic
	 * @param shards its shards
	 * @return the offsets of all groups, for those shards of which each group has one;
	 * none at all if no group is known
	 */
	Map<ShardId, List<Offset>> offsets(String topic, Collection<ShardId> shards);

	@Override
	void close();

}
