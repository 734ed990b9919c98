/**
 * The port of the control plane: members, leader and owners of a group, what members
 * announce to each other, and the settings that they compare. Offsets, state and records
 * of shards belong in {@code checkpoint}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.coordination.store;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
