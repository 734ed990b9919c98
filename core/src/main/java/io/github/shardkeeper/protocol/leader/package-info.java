/**
 * The decisions of a leader, as a pure machine: state, event and time in; actions and the
 * next wake-up out. {@code Leadership} is composed of the others. Clocks, I/O and threads
 * belong to {@code coordination}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.protocol.leader;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
