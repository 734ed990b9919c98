/**
 * Pure: the protocol's decisions. State, event and time in; actions and the next wake-up
 * out. Reads no clock, does no I/O.
 */
@NullMarked
package io.github.shardkeeper.protocol;

import org.jspecify.annotations.NullMarked;
