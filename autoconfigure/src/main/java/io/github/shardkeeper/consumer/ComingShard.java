package io.github.shardkeeper.consumer;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * A shard that somebody else may still own, as the application sees it while it prepares
 * for it. Immutable.
 */
record ComingShard(String group, ShardId shard, MemberId member) implements ShardContext {

	@Override
	public Token token() {
		return Token.NONE;
	}

	@Override
	public boolean isHeld() {
		return false;
	}

}
