package io.github.shardkeeper.handover;

import java.util.SortedMap;
import java.util.TreeMap;

import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * What a member tells the group about itself when it joins. Immutable.
 *
 * @param topicShards the topics that it consumes, with the number of shards that it was
 * configured with
 * @param version the version of the application that it runs
 */
public record MemberDescription(SortedMap<String, Integer> topicShards, ApplicationVersion version) {

	public MemberDescription {
		topicShards = new TreeMap<>(topicShards);
	}

}
