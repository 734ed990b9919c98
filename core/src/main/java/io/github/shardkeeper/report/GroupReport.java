package io.github.shardkeeper.report;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a group. Immutable.
 *
 * @param group the name of the group
 * @param self the id of the reporting member; {@code null} if it is not a member
 * @param connected whether the member holds its lease, so that it may consume
 * @param leader the id of the leader; {@code null} without a leader
 * @param epoch the number of the leadership
 * @param generation the number of ownership changes in the group
 * @param members the members, ordered by id
 * @param shards the shards, ordered
 * @param problems the problems that the leader has found
 * @param error why members and shards could not be read; {@code null} if they could
 */
public record GroupReport(String group, @Nullable String self, boolean connected, @Nullable String leader, long epoch,
		long generation, List<MemberReport> members, List<ShardReport> shards, List<ProblemReport> problems,
		@Nullable String error) {

}
