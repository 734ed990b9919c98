package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Application event: this instance consumes a shard; its {@link OnShardAssigned} methods
 * have returned, and records may have been handled already. Immutable.
 *
 * @param group the group
 * @param member the id of the instance in the group
 * @param shard the shard
 * @param token the fencing token of the ownership
 */
public record ShardAssignedEvent(String group, MemberId member, ShardId shard, Token token) {

	public ShardAssignedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
	}

}
