/**
 * Immutable snapshots of groups, members, shards and problems, for people and tools.
 * Nothing here decides anything.
 */
@Internal
@NullMarked
package io.github.shardkeeper.report;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
