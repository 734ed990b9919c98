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
 * of the old one that are lost are each told with a {@link ShardRevokedEvent}; where the
 * store had forgotten the session, those that are not go on under the same tokens.
 * Otherwise the instance goes on where it was, under the same tokens
 */
public record ShardSessionResumedEvent(String group, MemberId member, boolean anew) {

	public ShardSessionResumedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
	}

}
