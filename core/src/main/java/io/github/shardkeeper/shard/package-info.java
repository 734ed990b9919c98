/**
 * Values that every room uses: shards, members, tokens, offsets. They validate, compare
 * and print themselves; anything that decides or does I/O belongs elsewhere.
 */
@NullMarked
package io.github.shardkeeper.shard;

import org.jspecify.annotations.NullMarked;
