/**
 * One shard, from its acquisition to its last commit: reads, handles and commits its
 * records. Which shards there are, and threads, belong to {@code consumer}.
 * <p>
 * The lifecycle of a shard is in {@code ShardWorker} and {@code ShardOwnership}, the path
 * of its records in {@code RecordLoop}.
 */
@NullMarked
package io.github.shardkeeper.worker;

import org.jspecify.annotations.NullMarked;
