/**
 * The retry queue of a shard, as its worker uses it: with or without the order of keys.
 * The records themselves are in the store.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.retry;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
