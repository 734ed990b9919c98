package io.github.shardkeeper.protocol;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The record of the store about a shard. Immutable.
 *
 * @param phase the phase of the shard in the protocol
 * @param token the token of the current or last owner
 * @param owner the member that holds it; {@code null} for none
 * @param target the member that gets it after its release; {@code null} if undecided; of
 * a quiet shard that is kept for an instance the
 * {@linkplain GroupChanges.RestartingInstance#idOf id} that stands for that
 * @param generation the generation of the group at the last change of the shard, with
 * which planned changes are compared; in the reply to an owner's heartbeat possibly a
 * later one
 * @param sinceMillis the time of the last change, in milliseconds of the store's time
 * @param untilMillis the end of the quiet period, in milliseconds of the store's time; 0
 * in every other phase
 */
public record Ownership(ShardId shard, Phase phase, Token token, @Nullable MemberId owner, @Nullable MemberId target,
		long generation, long sinceMillis, long untilMillis) {

	/** Returns the target of a revoked or quiet shard, the owner of an owned one. */
	public @Nullable MemberId destination() {
		return switch (this.phase) {
			case OWNED -> this.owner;
			case REVOKING, QUIET -> this.target;
			case FREE, COMPLETED -> null;
		};
	}

	public enum Phase {

		/** Without an owner. */
		FREE,

		/** Its owner may consume it. */
		OWNED,

		/** Its owner still holds it, and drains and releases it. */
		REVOKING,

		/** Released; nobody may own it before the quiet period ends. */
		QUIET,

		/** Read to its end; nobody will own it again. */
		COMPLETED

	}

}
