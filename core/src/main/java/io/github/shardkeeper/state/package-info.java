/**
 * The state of an owned shard: its entries in memory or read on use, what a call sees of
 * them and writes, and what the next commit changes. What a store holds of a state is in
 * {@code checkpoint}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.state;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
