package io.github.shardkeeper.handover;

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
 * planned changes are compared with
 * @param sinceMillis when it changed last, in milliseconds of the store's clock
 */
public record Ownership(ShardId shard, ShardPhase phase, Token token, @Nullable MemberId owner,
		@Nullable MemberId target, long generation, long sinceMillis) {

	/**
	 * Who has it or is to have it.
	 * @return the target of a move that goes on, else the owner, {@code null} for none
	 */
	public @Nullable MemberId destination() {
		return (this.phase == ShardPhase.REVOKING) ? this.target : this.owner;
	}

}
