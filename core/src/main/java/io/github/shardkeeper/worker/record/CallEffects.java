package io.github.shardkeeper.worker.record;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * What a call has done besides its writes to the state, to be committed with it.
 * Immutable.
 *
 * @param sends the records that it has sent
 * @param timers when timers are due, with {@code null} for those that it has cancelled
 */
public record CallEffects(List<NewRecord> sends, Map<TimerId, @Nullable Instant> timers) {

	public static final CallEffects NONE = new CallEffects(List.of(), Map.of());

}
