/**
 * The data plane: the store port with its commits, state, seeks, retries and dead
 * letters. Who owns a shard is decided in {@code coordination}; the token is all that is
 * known of it here.
 */
@NullMarked
package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.NullMarked;
