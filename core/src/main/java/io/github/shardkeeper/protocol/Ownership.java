package io.github.shardkeeper.protocol;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What the store knows about one shard. Immutable.
 *
 * @param shard the shard
 * @param phase where it stands in the protocol
 * @param token the token of its owner, or of the last one
 * @param owner who holds it; {@code null} when nobody does
 * @param target who gets it once it is released; {@code null} when that is open
 * @param generation the group's generation at the shard's last change; the value that
 * planned changes are compared with. In the answer to an owner's heartbeat perhaps a
 * later one, at which it was to be told again
 * @param sinceMillis when it changed last, in milliseconds of the store's clock
 * @param untilMillis when a quiet shard's rest is over, in milliseconds of the store's
 * clock; 0 in every other phase
 */
public record Ownership(ShardId shard, Phase phase, Token token, @Nullable MemberId owner, @Nullable MemberId target,
		long generation, long sinceMillis, long untilMillis) {

	/**
	 * Returns who has the shard or is to have it.
	 * @return the target of a shard that is being released or rests, the owner of one
	 * that is owned; {@code null} for none
	 */
	public @Nullable MemberId destination() {
		return switch (this.phase) {
			case OWNED -> this.owner;
			case REVOKING, QUIET -> this.target;
			case FREE, COMPLETED -> null;
		};
	}

	/**
	 * Where a shard stands in the protocol.
	 */
	public enum Phase {

		/** Nobody owns it. */
		FREE,

		/** Its owner may consume it. */
		OWNED,

		/** Its owner still holds it, and is to drain, flush and release it. */
		REVOKING,

		/** It was released, and rests: nobody may own it yet. */
		QUIET,

		/** Its owner has come to its end; nobody will own it again. */
		COMPLETED

	}

}
