package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Application event: this instance no longer consumes a shard of which a
 * {@link ShardAssignedEvent} was told. Another one may already do. Immutable.
 *
 * @param group the group
 * @param member the instance's id in it
 * @param shard the shard
 * @param token the token under which it was consumed
 * @param lost whether it was lost without warning, so that what was not committed does
 * not count; otherwise everything was put away
 */
public record ShardRevokedEvent(String group, MemberId member, ShardId shard, Token token, boolean lost) {

	public ShardRevokedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
	}

}
