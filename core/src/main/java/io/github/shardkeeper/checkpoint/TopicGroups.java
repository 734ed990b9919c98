package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The groups that consume a topic and their offsets, so that trimming removes no record
 * that one of them still needs. Every method may throw
 * {@link io.github.shardkeeper.StoreUnavailableException}; a retry is always safe.
 * Thread-safe.
 */
@Internal
public interface TopicGroups extends AutoCloseable {

	/**
	 * Registers this group as a consumer of topics. Repeat it regularly, because the
	 * store may lose it.
	 */
	void register(Collection<String> topics);

	/**
	 * Removes this group from the consumers of a topic. An instance that consumes the
	 * topic registers the group again.
	 */
	void unregister(String topic);

	/**
	 * Stores copies of this group's committed offsets in shards whose checkpoints are in
	 * another store, which other groups cannot read. A copy counts instead of a
	 * checkpoint until the shard is acquired in this store again. It replaces none of a
	 * later commit: an instance that was frozen may send its copy late.
	 */
	void copyOffsets(Map<ShardId, Copy> offsets);

	/**
	 * Claims the right to trim a topic.
	 * @param interval the time for which no other instance gets the right
	 * @param settling the time that groups have to register again after the store may
	 * have lost some
	 * @return the claim; {@code null} if another instance has the right
	 */
	@Nullable Claim claimTrimming(String topic, Duration interval, Duration settling);

	/**
	 * Reads the committed offsets of groups, or their copies, as replicas have them where
	 * the store waits for replicas.
	 * @param shards shards of one topic
	 * @return the offsets of all groups, for the shards of which every group has one
	 */
	Map<ShardId, List<Offset>> offsets(Set<String> groups, Collection<ShardId> shards);

	@Override
	void close();

	/**
	 * Copy of a committed offset. Immutable.
	 *
	 * @param token the token of the owner that has committed it
	 * @param commit the number of the commit under that token
	 */
	record Copy(Offset offset, Token token, long commit) {

	}

	/**
	 * The right to trim a topic. Immutable.
	 *
	 * @param groups the registered groups
	 * @param settled whether all groups have had the time to register
	 */
	record Claim(Set<String> groups, boolean settled) {

		public Claim {
			groups = Set.copyOf(groups);
		}

	}

}
