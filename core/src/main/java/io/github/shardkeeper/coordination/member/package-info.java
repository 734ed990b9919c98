/**
 * What every member does: heartbeats and the lease, joining and leaving, holding shards
 * and having them consumed, and reporting about itself. Decisions belong in {@code
 * protocol}, what only a leader does in {@code leader}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.coordination.member;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
