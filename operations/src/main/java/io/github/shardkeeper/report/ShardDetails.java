package io.github.shardkeeper.report;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.OutboxReport;

/**
 * Snapshot of a shard with its data. Immutable.
 *
 * @param group the name of the group
 * @param shard the shard
 * @param lag the distance to its end; {@code null} without a committed offset, and if the
 * source cannot tell
 * @param deadLetters the number of its dead letters
 * @param retries the number of records in its retry queue
 * @param outbox what its calls have sent and its targets do not have yet; {@code null} if
 * it has never sent anything
 * @param timers the timers that wait; {@code null} if there are none
 * @param stateEntries the number of entries of its committed state
 * @param moves its last moves, the newest first, at most ten, and among the last of the
 * group only
 * @param unreadable what could not be read, with the reason: the parts of this snapshot
 * that are {@code null} because of that
 */
public record ShardDetails(String group, ShardReport shard, @Nullable LagReport lag, @Nullable Long deadLetters,
		@Nullable Long retries, @Nullable OutboxReport outbox, @Nullable TimersReport timers,
		@Nullable Long stateEntries, @Nullable List<MoveReport> moves, Map<String, String> unreadable) {

}
