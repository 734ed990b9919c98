package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Application event: the lease of this instance has ended, because the store did not
 * reply in time or the process was paused. No record is passed to a handler any more,
 * running calls were interrupted, and {@link ShardContext#isHeld()} is {@code false} for
 * all shards. A {@link ShardSessionResumedEvent} follows when the lease is held again.
 * Like all application events of Shardkeeper it is published shortly afterwards, on a
 * separate thread and in order: it informs, and protects nothing. Immutable.
 *
 * @param group the group
 * @param member the id of the instance in the group
 */
public record ShardSessionLostEvent(String group, MemberId member) {

	public ShardSessionLostEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
	}

}
