package io.github.shardkeeper.report;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A group as it was a moment ago. Immutable.
 *
 * @param group the group's name
 * @param self the id of the member that reports; {@code null} when it is not a member
 * @param connected whether the member's lease is held: it may consume
 * @param leader the leader's id, {@code null} when nobody leads
 * @param epoch the leadership's number
 * @param generation how often a shard's ownership changed
 * @param members the members, ordered by id
 * @param shards the shards, ordered
 * @param problems what is wrong with the group, as its leader has found
 * @param error why members and shards could not be read, {@code null} when they could
 */
public record GroupReport(String group, @Nullable String self, boolean connected, @Nullable String leader, long epoch,
		long generation, List<MemberReport> members, List<ShardReport> shards, List<ProblemReport> problems,
		@Nullable String error) {

}
