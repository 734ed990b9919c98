/**
 * Sending: choice of the shard, order, batches and limits of records in flight. Does not
 * belong here: how a source appends records, which {@code source.ShardAppender} hides.
 */
@NullMarked
package io.github.shardkeeper.template;

import org.jspecify.annotations.NullMarked;
