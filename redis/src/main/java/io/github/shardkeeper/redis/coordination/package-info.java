/**
 * The store of the control plane on Redis; each transition of a group is one Lua script
 * in the resources of this package. Decisions belong into {@code protocol}, data of
 * shards into {@code redis.checkpoint}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.redis.coordination;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
