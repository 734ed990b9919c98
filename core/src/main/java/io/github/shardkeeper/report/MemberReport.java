package io.github.shardkeeper.report;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A member of a group as it was a moment ago. Immutable.
 *
 * @param id its id
 * @param instance the instance's id, which stays the same over sessions
 * @param version the version of the application that it runs, {@code null} when it is not
 * known
 * @param capacity how much it takes compared with others
 * @param zone where it runs, {@code null} when it does not say
 * @param leader whether it leads
 * @param leaving whether it is on its way out
 * @param topics the topics that it consumes, with the number of shards that its source
 * knows
 * @param shards how many shards it owns
 */
public record MemberReport(String id, String instance, @Nullable String version, int capacity, @Nullable String zone,
		boolean leader, boolean leaving, Map<String, Integer> topics, int shards) {

}
