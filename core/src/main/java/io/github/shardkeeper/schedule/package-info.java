/**
 * Pure: schedules of handlers without records. Decides when a shard's next run is due,
 * and what happens to missed and interrupted runs. Does not belong here: threads, clocks,
 * stores, calls of handlers.
 */
@Internal
@NullMarked
package io.github.shardkeeper.schedule;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
