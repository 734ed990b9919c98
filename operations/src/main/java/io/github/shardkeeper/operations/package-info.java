/**
 * Operations on a group's stores for applications and dashboards: dead letters,
 * positions, committed state, retired topics and trimming. Does not belong here: anything
 * that consumes records.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
