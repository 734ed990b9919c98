/**
 * The history of moves: what the leader has found, the port of its store, and how it is
 * written and read. Nothing of the protocol depends on it.
 */
@Internal
@NullMarked
package io.github.shardkeeper.history;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
