/**
 * Sending: choice of the shard, order, batches and limits of records in flight. Does not
 * belong here: how a {@code source.ShardAppender} appends records.
 */
@NullMarked
package io.github.shardkeeper.template;

import org.jspecify.annotations.NullMarked;
