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
 * {@code DEPLOY}, {@code REBALANCE}, {@code MANUAL}, {@code FORCE}, {@code COMPLETED} or
 * {@code UNKNOWN}
 * @param why the reason of the leader that has planned it; {@code null} if nobody knows
 * it
 * @param by who asked for it; {@code null} for nobody
 * @param planned the time at which the owner was asked to release the shard, or lost it
 * @param drained the time until it had released the shard
 * @param flushed the part of {@code drained} after its last call had returned: the last
 * commit and the release; {@code null} if it has not told
 * @param unowned the time from the release until the new owner had the shard
 * @param acquired the time from then until the new owner had its offset and state;
 * {@code null} if it has not told
 * @param firstRecord the time from then until the new owner had handled a record, or made
 * a call; {@code null} if there was none for some time, or it has not told
 */
public record MoveReport(String id, String topic, String shard, @Nullable String from, @Nullable String to, long token,
		String cause, @Nullable String why, @Nullable String by, Instant planned, Duration drained,
		@Nullable Duration flushed, Duration unowned, @Nullable Duration acquired, @Nullable Duration firstRecord) {

}
