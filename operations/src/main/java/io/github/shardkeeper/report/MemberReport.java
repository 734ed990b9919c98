package io.github.shardkeeper.report;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a member. Immutable.
 *
 * @param id the id of the member
 * @param instance the id of the instance, which stays the same over sessions
 * @param version the version of its application; {@code null} if unknown
 * @param capacity the capacity relative to other members
 * @param zone the zone in which it runs; {@code null} if unknown
 * @param leader whether it leads
 * @param leaving whether it is leaving the group
 * @param draining whether an operator has drained its instance, so that it gets no shards
 * @param silentSince the time at which its lease ended without a heartbeat, by the
 * store's clock: it consumes nothing, and its shards wait for it until its session ends;
 * {@code null} while its heartbeats arrive
 * @param topics the topics that it consumes, with the number of shards that its source
 * knows
 * @param shards the number of shards that it owns
 */
public record MemberReport(String id, String instance, @Nullable String version, int capacity, @Nullable String zone,
		boolean leader, boolean leaving, boolean draining, @Nullable Instant silentSince, Map<String, Integer> topics,
		int shards) {

}
