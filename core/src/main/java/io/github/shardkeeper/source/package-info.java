/**
 * Where a topic's shards and records come from.
 */
@NullMarked
package io.github.shardkeeper.source;

import org.jspecify.annotations.NullMarked;
