package io.github.shardkeeper.protocol;

import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The description of a member, which it gives the group when it joins and when the shards
 * of its topics change. Immutable.
 *
 * @param topicShards the topics that it consumes, with the shards that its source knows
 * @param version the version of its application
 * @param capacity the capacity relative to other members, at least 1
 * @param zone the zone in which it runs; {@code null} if unknown
 * @param strategy the assignment strategy with which it would lead; {@code null} if
 * unknown
 * @param subscriptionHidden whether its subscription exists but is hidden from the store,
 * so that a missing subscription proves nothing
 */
public record MemberDescription(SortedMap<String, TopicShards> topicShards, ApplicationVersion version, int capacity,
		@Nullable String zone, @Nullable String strategy, boolean subscriptionHidden) {

	public MemberDescription {
		topicShards = new TreeMap<>(topicShards);
		if (capacity < 1) {
			throw new IllegalArgumentException("A capacity of " + capacity + ": it is at least 1");
		}
	}

	/** Creates the description of a member with capacity 1. */
	public MemberDescription(SortedMap<String, TopicShards> topicShards, ApplicationVersion version) {
		this(topicShards, version, 1, null, null);
	}

	/** Creates the description of a member whose subscription the store sees. */
	public MemberDescription(SortedMap<String, TopicShards> topicShards, ApplicationVersion version, int capacity,
			@Nullable String zone, @Nullable String strategy) {
		this(topicShards, version, capacity, zone, strategy, false);
	}

}
