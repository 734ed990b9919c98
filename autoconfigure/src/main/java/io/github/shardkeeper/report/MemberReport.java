package io.github.shardkeeper.report;

import java.util.Map;

/**
 * A member of a group as it was a moment ago. Immutable.
 *
 * @param id its id
 * @param instance the instance's id, which stays the same over sessions
 * @param leader whether it leads
 * @param leaving whether it is on its way out
 * @param topics the topics that it consumes, with the shard count it was configured with
 * @param shards how many shards it owns
 */
public record MemberReport(String id, String instance, boolean leader, boolean leaving, Map<String, Integer> topics,
		int shards) {

}
