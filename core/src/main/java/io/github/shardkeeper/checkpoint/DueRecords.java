package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a shard's retry queue has for now. Immutable.
 *
 * @param records those that are due, the one that was due first comes first
 * @param nextIn how long until there is more; zero when more are due than were asked for,
 * {@code null} when nothing else is in the queue
 */
public record DueRecords(List<FailedRecord> records, @Nullable Duration nextIn) {

	public DueRecords {
		records = List.copyOf(records);
	}

}
