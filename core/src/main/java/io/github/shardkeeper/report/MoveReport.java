package io.github.shardkeeper.report;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a move of a shard. Times are by the store's clock. Immutable.
 *
 * @param id the id of the entry in the history; its order is that of the moves
 * @param topic the topic
 * @param shard the id of the shard within the topic
 * @param from the id of the owner before; {@code null} if the shard was new, or nobody
 * knows it
 * @param to the id of the new owner; {@code null} if the shard was completed
 * @param token the token of the new owner
 * @param cause {@code FIRST_OWNER}, {@code JOIN}, {@code LEAVE}, {@code CRASH},
 * {@code DEPLOY}, {@code REBALANCE}, {@code COMPLETED} or {@code UNKNOWN}
 * @param planned the time at which the owner was asked to release the shard, or lost it
 * @param drained the time until it had released the shard
 * @param unowned the time from then until the new owner had the shard
 */
public record MoveReport(String id, String topic, String shard, @Nullable String from, @Nullable String to, long token,
		String cause, Instant planned, Duration drained, Duration unowned) {

}
