package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Application event: after a {@link ShardSessionLostEvent} the instance's lease is held
 * again. Immutable.
 *
 * @param group the group
 * @param member the id that the instance has in it now
 * @param anew whether a new session was begun, because the old one was over: the shards
 * of the old one are lost, and each is told with a {@link ShardRevokedEvent}. Otherwise
 * the instance goes on where it was, under the same tokens
 */
public record ShardSessionResumedEvent(String group, MemberId member, boolean anew) {

	public ShardSessionResumedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
	}

}
