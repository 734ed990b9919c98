/**
 * The source of records on Redis Streams, one stream per shard: appending, reading with
 * plain {@code XREAD}, trimming, and shard counts. What a group stores about records
 * belongs into {@code redis.checkpoint}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.redis.stream;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
