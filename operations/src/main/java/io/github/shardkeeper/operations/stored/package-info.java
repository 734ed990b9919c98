/**
 * What applications read and change in a group's stores: dead letters, positions,
 * committed state, retired topics. Consumes no records.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations.stored;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
