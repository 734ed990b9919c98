/**
 * Redis Streams, one stream per shard, read with plain XREAD.
 */
@NullMarked
package io.github.shardkeeper.redis.stream;

import org.jspecify.annotations.NullMarked;
