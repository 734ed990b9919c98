/**
 * The stores of the data plane on Redis: checkpoints, states, retries, dead letters, and
 * the groups of a topic, with Lua scripts in the resources of this package. Records and
 * shard counts belong into {@code redis.stream}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.redis.checkpoint;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
