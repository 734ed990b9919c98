package io.github.shardkeeper.handover;

import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a member tells the group about itself when it joins. Immutable.
 *
 * @param topicShards the topics that it consumes, with the number of shards that it was
 * configured with
 */
public record MemberDescription(SortedMap<String, Integer> topicShards) {

	public MemberDescription {
		topicShards = new TreeMap<>(topicShards);
	}

}
