/**
 * Stores of the cluster tools inside one process, on the group of
 * {@code MemoryCoordinationStore}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.cluster.memory;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
