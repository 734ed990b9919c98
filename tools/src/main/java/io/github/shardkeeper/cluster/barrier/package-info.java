/**
 * Double barriers: the port to their store, and the client that enters and leaves.
 */
@Internal
@NullMarked
package io.github.shardkeeper.cluster.barrier;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
