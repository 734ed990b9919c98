package io.github.shardkeeper.shard;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A change of a shard's owner, as the leader has read it. Moves that follow each other
 * before the leader reads again appear as one. Times are in milliseconds of the store's
 * time. Immutable.
 *
 * @param from the owner before; {@code null} if the shard is new or nobody knows it
 * @param to the new owner; {@code null} if the shard was completed
 * @param token the token of the new owner, or of the last owner of a completed shard
 * @param plannedMillis the time at which the owner was asked to release the shard, or
 * lost it
 * @param releasedMillis the time at which the owner released or lost the shard
 * @param assignedMillis the time at which the new owner got it
 */
public record ShardMove(ShardId shard, @Nullable MemberId from, @Nullable MemberId to, Token token, MoveCause cause,
		long plannedMillis, long releasedMillis, long assignedMillis) {

	public ShardMove {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
		Objects.requireNonNull(cause, "cause must not be null");
	}

}
