/**
 * The decisions of a member about the shards that it holds, as a pure machine: state,
 * event and time in; actions and the next wake-up out. Clocks, I/O and threads belong to
 * {@code coordination}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.protocol.member;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
