package io.github.shardkeeper.jdbc;

import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;

/**
 * Row of a shard. Immutable.
 *
 * @param token the fence
 * @param lastCommit the number of the last commit under the token, 0 for none
 * @param acquired the time at which the fence was raised, in milliseconds: identifies the
 * acquisition
 * @param before the last commit before the fence was raised
 * @param lastLetter the number of the last dead letter, 0 for none
 */
record ShardRow(Token token, long lastCommit, long acquired, LastCommit before, @Nullable Offset offset,
		Set<Offset> ahead, Seeks seeks, boolean completed, long lastLetter) {

}
