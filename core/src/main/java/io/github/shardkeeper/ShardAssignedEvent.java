package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Application event: this instance consumes a shard, whose {@link OnShardAssigned}
 * methods have returned. What has to happen before its first record belongs there:
 * records may have been handled by the time of this event. Immutable.
 *
 * @param group the group
 * @param member the instance's id in it
 * @param shard the shard
 * @param token the token under which it is consumed
 */
public record ShardAssignedEvent(String group, MemberId member, ShardId shard, Token token) {

	public ShardAssignedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
	}

}
