package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Application event: after a {@link ShardSessionLostEvent} the lease of this instance is
 * held again. Immutable.
 *
 * @param group the group
 * @param member the id of the instance in the group now
 * @param newSession whether the instance has rejoined with a new session. Then a
 * {@link ShardRevokedEvent} is published for each shard that was lost; only if the store
 * itself had lost the session may shards be kept, under the same tokens. If
 * {@code false}, the instance resumes all its shards under the same tokens
 */
public record ShardSessionResumedEvent(String group, MemberId member, boolean newSession) {

	public ShardSessionResumedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
	}

}
