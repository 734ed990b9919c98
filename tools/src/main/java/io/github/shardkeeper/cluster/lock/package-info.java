/**
 * Locks: the port to their store, and the client that waits, holds and releases.
 */
@Internal
@NullMarked
package io.github.shardkeeper.cluster.lock;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
