package io.github.shardkeeper;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Application event: the instance's lease in its group has ended, because the store did
 * not answer in time or the process was paused. No record is handed to a handler any
 * more, calls that ran were interrupted, and {@link ShardContext#isHeld()} is
 * {@code false} for all shards. Others may own them soon. A
 * {@link ShardSessionResumedEvent} follows when that is over. Immutable.
 * <p>
 * Like all of Shardkeeper's application events it is published shortly after the fact, on
 * a thread of its own and in the order in which things happened: it is news, not a lock.
 *
 * @param group the group
 * @param member the id that the instance had in it
 */
public record ShardSessionLostEvent(String group, MemberId member) {

	public ShardSessionLostEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(member, "member must not be null");
	}

}
