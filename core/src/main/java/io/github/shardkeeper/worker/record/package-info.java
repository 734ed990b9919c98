/**
 * Records of a shard from the reader to the checkpoint: buffered within a budget, taken
 * up, and tracked in the window until they are committed. It calls no handler and no
 * store.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.record;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
