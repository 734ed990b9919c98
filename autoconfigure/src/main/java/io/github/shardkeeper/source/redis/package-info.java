/**
 * Redis Streams, one stream per shard, read with plain XREAD.
 */
@NullMarked
package io.github.shardkeeper.source.redis;

import org.jspecify.annotations.NullMarked;
