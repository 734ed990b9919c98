/**
 * The monotonic clock, and what is computed from its readings: leases and the store's
 * time. The only place of the engine where the clock is read.
 */
@NullMarked
package io.github.shardkeeper.time;

import org.jspecify.annotations.NullMarked;
