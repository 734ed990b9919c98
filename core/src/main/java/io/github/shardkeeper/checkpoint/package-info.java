/**
 * The data plane: the store ports, and the values that they read and write (commits,
 * state, seeks, retries, dead letters). Decisions about owners belong in
 * {@code coordination} and {@code protocol}; this package knows only the token.
 */
@NullMarked
package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.NullMarked;
