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
 * @param formerToken the token of the owner before; {@link Token#NONE} if nobody knows it
 * @param plannedMillis the time at which the owner was asked to release the shard, or
 * lost it
 * @param releasedMillis the time at which the owner released or lost the shard
 * @param assignedMillis the time at which the new owner got it
 * @param why the reason of the leader that has planned it, the second half of a sentence;
 * {@code null} if nobody knows it
 * @param by who asked for it; {@code null} for nobody
 */
public record ShardMove(ShardId shard, @Nullable MemberId from, @Nullable MemberId to, Token token, Token formerToken,
		MoveCause cause, long plannedMillis, long releasedMillis, long assignedMillis, @Nullable String why,
		@Nullable String by) {

	public ShardMove {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(token, "token must not be null");
		Objects.requireNonNull(formerToken, "formerToken must not be null");
		Objects.requireNonNull(cause, "cause must not be null");
	}

	/** Creates a move of which neither the token before nor the plan is known. */
	public ShardMove(ShardId shard, @Nullable MemberId from, @Nullable MemberId to, Token token, MoveCause cause,
			long plannedMillis, long releasedMillis, long assignedMillis) {
		this(shard, from, to, token, Token.NONE, cause, plannedMillis, releasedMillis, assignedMillis, null, null);
	}

	/**
	 * Returns whether it is not known if another leader has found it, too.
	 * @return whether nothing of it is known but the new owner
	 */
	public boolean isUncertain() {
		return this.cause == MoveCause.UNKNOWN && this.from == null && this.formerToken.equals(Token.NONE);
	}

	/**
	 * Returns the same move with what was found out about it.
	 * @param former the owner before; {@code null} if nobody knows it
	 * @param because the cause
	 * @param reason the reason of the plan; {@code null} if nobody knows it
	 * @return the move
	 */
	public ShardMove withOrigin(@Nullable MemberId former, MoveCause because, @Nullable String reason) {
		Objects.requireNonNull(because, "because must not be null");
		return new ShardMove(this.shard, former, this.to, this.token, this.formerToken, because, this.plannedMillis,
				this.releasedMillis, this.assignedMillis, reason, this.by);
	}

}
