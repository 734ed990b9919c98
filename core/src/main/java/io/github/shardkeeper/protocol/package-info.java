/**
 * The decisions of the handover protocol, as pure machines: state, event and time in;
 * actions and the next wake-up out. Clocks, I/O and threads belong to
 * {@code coordination}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.protocol;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
