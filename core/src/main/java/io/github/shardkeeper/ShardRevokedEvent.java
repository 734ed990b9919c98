package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Application event: this instance no longer consumes a shard for which it published a
 * {@link ShardAssignedEvent}. Another instance may consume it already. Immutable.
 *
 * @param group the group
 * @param member the id of the instance in the group
 * @param shard the shard
 * @param token the fencing token of the ownership
 * @param lost whether the shard was lost without warning, so that uncommitted work is
 * repeated elsewhere; if not, everything was committed
 */
public record ShardRevokedEvent(String group, MemberId member, ShardId shard, Token token, boolean lost) {

	public ShardRevokedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
	}

}
