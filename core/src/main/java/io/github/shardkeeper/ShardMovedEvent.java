package io.github.shardkeeper;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Application event: a shard of the group has another owner. It is published by the
 * instance that leads the group, for all moves, and may be missing or repeated when
 * another instance takes the lead. See {@link ShardAssignedEvent} for the shards of one
 * instance. Immutable.
 *
 * @param group the group
 * @param shard the shard
 * @param from the owner before; {@code null} if the shard was new, or nobody knows it
 * @param to the new owner; {@code null} if the shard was completed
 * @param token the fencing token of the new owner
 * @param cause the cause
 * @param duration the time from the plan, or the loss of the owner, to the new owner
 * @param why the reason of the leader that has planned it; {@code null} if nobody knows
 * it
 * @param by who asked for it; {@code null} for nobody
 */
public record ShardMovedEvent(String group, ShardId shard, @Nullable MemberId from, @Nullable MemberId to, Token token,
		MoveCause cause, Duration duration, @Nullable String why, @Nullable String by) {

	public ShardMovedEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
		Objects.requireNonNull(cause, "cause must not be null");
		Objects.requireNonNull(duration, "duration must not be null");
	}

}
