/**
 * The monotonic clock, leases and store time derived from its readings, and the lengths
 * of pauses. Wall-clock time and threads do not belong here.
 */
@Internal
@NullMarked
package io.github.shardkeeper.time;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
