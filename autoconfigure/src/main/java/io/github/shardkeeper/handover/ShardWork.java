package io.github.shardkeeper.handover;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What a member has done for a shard since it owns it. Immutable.
 *
 * @param shard the shard
 * @param token the token under which it is owned: with another one everything begins at 0
 * @param handlerNanos how long its handler has run, a call that runs now included
 * @param records how many records it has handled
 */
public record ShardWork(ShardId shard, Token token, long handlerNanos, long records) {

}
