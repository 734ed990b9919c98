/**
 * Immutable snapshots of groups, members, shards and problems, for people and tools.
 * Nothing here decides anything.
 */
@NullMarked
package io.github.shardkeeper.report;

import org.jspecify.annotations.NullMarked;
