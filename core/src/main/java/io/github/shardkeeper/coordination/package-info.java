/**
 * The control plane's drivers (event loop, heartbeats, membership) and their ports
 * ({@code CoordinationStore}, {@code ShardConsumption}). Decisions belong in
 * {@code protocol}; offsets, state and records of shards belong in {@code checkpoint}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.coordination;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
