package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

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
	 * Makes known that this group consumes topics. To be repeated at intervals, because
	 * the store may lose it.
	 * @param topics the topics
	 */
	void register(Collection<String> topics);

	/**
	 * Has nobody wait any more for this group to handle a topic's records. Whoever
	 * consumes the topic makes the group known again.
	 * @param topic the topic
	 */
	void unregister(String topic);

	/**
	 * Claims to be the one that trims a topic for some time.
	 * @param topic the topic
	 * @param interval how long nobody else does
	 * @param settling how long groups have to register again after the store may have
	 * forgotten some
	 * @return the claim; {@code null} when somebody else trims
	 */
	@Nullable Claim claimTrimming(String topic, Duration interval, Duration settling);

	/**
	 * Reads how far groups are with the shards of a topic, as replicas have it where the
	 * store waits for them.
	 * @param groups the groups
	 * @param shards shards of one topic
	 * @return the offsets of all these groups, for those shards of which each group has
	 * one; none at all without groups
	 */
	Map<ShardId, List<Offset>> offsets(Set<String> groups, Collection<ShardId> shards);

	@Override
	void close();

	/**
	 * The right to trim a topic. Immutable.
	 *
	 * @param groups the groups that are known to consume it
	 * @param settled whether all that consume it had the time to register
	 */
	record Claim(Set<String> groups, boolean settled) {

		public Claim {
			groups = Set.copyOf(groups);
		}

	}

}
