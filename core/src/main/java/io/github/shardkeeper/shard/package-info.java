/**
 * Values that every other room speaks in: shards, members, tokens, offsets. Immutable, no
 * behaviour beyond validation and order.
 */
@NullMarked
package io.github.shardkeeper.shard;

import org.jspecify.annotations.NullMarked;
