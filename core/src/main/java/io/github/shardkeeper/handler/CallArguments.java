package io.github.shardkeeper.handler;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimers;

/**
 * Arguments of a call that do not come with its record; each {@code null} if the method
 * takes none. As thread-safe as they are.
 *
 * @param context the shard
 * @param state the state of the shard
 * @param acknowledgment the acknowledgment of the records
 * @param output the records that the call sends
 * @param timers the timers that the call sets and cancels
 */
@Internal
public record CallArguments(ShardContext context, @Nullable ShardState state, @Nullable Acknowledgment acknowledgment,
		@Nullable ShardOutput output, @Nullable ShardTimers timers) {

	/** Creates the arguments of a call that only reads and writes state. */
	public CallArguments(ShardContext context, @Nullable ShardState state, @Nullable Acknowledgment acknowledgment) {
		this(context, state, acknowledgment, null, null);
	}

}
