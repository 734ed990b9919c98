package io.github.shardkeeper.report;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a shard. Immutable.
 *
 * @param topic the topic
 * @param id the id of the shard within the topic
 * @param state {@code FREE}, {@code OWNED}, {@code REVOKING}, {@code QUIET} or
 * {@code COMPLETED}
 * @param owner the id of the owner
 * @param target the id of the next owner during a move
 * @param token the token of the current or last owner
 * @param offset the committed offset; {@code null} before the first commit, if it cannot
 * be read, or if the shard has no records
 * @param since the time of the last change of state or owner, by the store's clock
 * @param problem why its owner does not consume the shard, or why its offset cannot be
 * read; {@code null} without a problem
 * @param why why the shard has this owner or moves; {@code null} if the store has no
 * reason for it
 * @param schedule the committed position in the schedule of a shard without records;
 * {@code null} for other shards and before the first commit
 * @param paused the pause of an operator; {@code null} if its records are handled
 * @param pinnedTo the id of the instance to which an operator has pinned it; {@code null}
 * for none
 * @param deadLetters the number of its dead letters; {@code null} unless they were asked
 * for, and if they cannot be read
 */
public record ShardReport(String topic, String id, String state, @Nullable String owner, @Nullable String target,
		long token, @Nullable String offset, Instant since, @Nullable String problem, @Nullable String why,
		@Nullable RunReport schedule, @Nullable PauseReport paused, @Nullable String pinnedTo,
		@Nullable Long deadLetters) {

}
