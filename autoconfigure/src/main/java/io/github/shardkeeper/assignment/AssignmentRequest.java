package io.github.shardkeeper.assignment;

import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * What an assignment is computed from. Not to be changed once it is built.
 *
 * @param members the members that may own shards
 * @param shards the shards to be owned
 * @param current today's owners; a shard that nobody owns is not in it
 */
public record AssignmentRequest(SortedMap<MemberId, Assignee> members, SortedSet<ShardId> shards,
		Map<ShardId, Tenure> current) {

}
