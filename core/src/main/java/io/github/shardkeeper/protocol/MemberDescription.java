package io.github.shardkeeper.protocol;

import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.TopicShards;

/**
 * What a member tells the group about itself when it joins, and again when its topics'
 * shards have changed. Immutable.
 *
 * @param topicShards the topics that it consumes, with the shards that its source knows
 * @param version the version of the application that it runs
 * @param capacity how much it takes compared with others, at least 1
 * @param zone where it runs, {@code null} when it does not say
 * @param strategy the assignment strategy that it would lead with, {@code null} when it
 * does not say
 * @param subscriptionHidden whether the store does not see its subscription, although it
 * stands: then that there is none says nothing
 */
public record MemberDescription(SortedMap<String, TopicShards> topicShards, ApplicationVersion version, int capacity,
		@Nullable String zone, @Nullable String strategy, boolean subscriptionHidden) {

	public MemberDescription {
		topicShards = new TreeMap<>(topicShards);
		if (capacity < 1) {
			throw new IllegalArgumentException("A capacity of " + capacity + ": it is at least 1");
		}
	}

	/**
	 * A member of capacity 1 that says nothing else.
	 * @param topicShards the topics that it consumes, with their shards
	 * @param version the version of the application that it runs
	 */
	public MemberDescription(SortedMap<String, TopicShards> topicShards, ApplicationVersion version) {
		this(topicShards, version, 1, null, null);
	}

	/**
	 * A member whose subscription the store sees.
	 * @param topicShards the topics that it consumes, with their shards
	 * @param version the version of the application that it runs
	 * @param capacity how much it takes compared with others
	 * @param zone where it runs
	 * @param strategy the assignment strategy that it would lead with
	 */
	public MemberDescription(SortedMap<String, TopicShards> topicShards, ApplicationVersion version, int capacity,
			@Nullable String zone, @Nullable String strategy) {
		this(topicShards, version, capacity, zone, strategy, false);
	}

}
