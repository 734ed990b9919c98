package io.github.shardkeeper.coordination;

import java.util.Set;

import io.github.shardkeeper.shard.ShardId;

/**
 * What became of shards that a member claimed or presented. Immutable.
 *
 * @param granted those that it owns now, under the tokens that it named
 * @param superseded those that it held before the store lost that, and that were given to
 * somebody else since: what the member has of them comes too late. Others that are not
 * granted had moved on before
 */
public record ClaimReply(Set<ShardId> granted, Set<ShardId> superseded) {

	/** Nothing was asked for. */
	public static final ClaimReply NONE = new ClaimReply(Set.of(), Set.of());

}
