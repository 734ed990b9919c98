package io.github.shardkeeper.report;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.ProblemReport;

/**
 * Snapshot of a group, with one page of its shards. Immutable.
 *
 * @param group the name of the group
 * @param instance the id of the reporting instance
 * @param self the id of the reporting member; {@code null} if it is not a member
 * @param connected whether the member holds its lease, so that it may consume
 * @param leader the id of the leader; {@code null} without a leader
 * @param epoch the number of the leadership
 * @param generation the number of ownership changes in the group
 * @param members the members, ordered by id
 * @param away the instances that have left for a restart and have not returned, ordered
 * by id
 * @param topics the topics, ordered by name
 * @param broadcast the broadcast topics that the reporting instance consumes, ordered by
 * name; empty in the report for one topic
 * @param problems the problems that the leader has found
 * @param matching the number of all shards that match the query
 * @param shards the shards of the page, ordered
 * @param next the shard after which the next page begins; {@code null} after the last one
 * @param incomplete why the problems or reasons of some shards are missing; {@code null}
 * if all are known
 * @param error why the group could not be read; {@code null} if it could
 */
public record GroupReport(String group, String instance, @Nullable String self, boolean connected,
		@Nullable String leader, long epoch, long generation, List<MemberReport> members,
		List<RestartingInstanceReport> away, List<TopicReport> topics, List<BroadcastReport> broadcast,
		List<ProblemReport> problems, int matching, List<ShardReport> shards, @Nullable String next,
		@Nullable String incomplete, @Nullable String error) {

}
