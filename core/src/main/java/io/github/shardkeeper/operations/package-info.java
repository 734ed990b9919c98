/**
 * Operations of people and dashboards on a group's stores: dead letters, positions,
 * committed state, retired topics, and trimming. Nothing that consumes records uses them.
 */
@NullMarked
package io.github.shardkeeper.operations;

import org.jspecify.annotations.NullMarked;
