package io.github.shardkeeper.checkpoint;

import io.github.shardkeeper.shard.Offset;

/**
 * A request to consume a shard from another position on, until its owner has carried it
 * out. Immutable.
 *
 * @param number which of the shard's requests it is; they rise
 * @param after the offset after which to go on
 * @param clearsState whether the shard's state is to be removed with it
 */
public record SeekRequest(long number, Offset after, boolean clearsState) {

}
