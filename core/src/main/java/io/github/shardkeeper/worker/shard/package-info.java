/**
 * An owned shard as everything that works for it knows it: its identity, lifecycle and
 * settings, what it shares with the other shards of the instance, and what is counted and
 * logged. It does nothing with records.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.shard;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
