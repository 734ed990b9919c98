/**
 * One shard, from its acquisition to its last commit. Which shards there are, and the
 * threads, belong to {@code consumer}; how a handler's method is called, to
 * {@code handler}. To follow a record, read {@code ShardWorker}, {@code ShardOwnership},
 * and {@code RecordLoop}, which names the next steps.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
