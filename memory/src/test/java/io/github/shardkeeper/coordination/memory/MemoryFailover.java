package io.github.shardkeeper.coordination.memory;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Failures of the server behind a store, for tests on the stores in memory.
 */
public final class MemoryFailover {

	private MemoryFailover() {
	}

	/**
	 * Returns the state of a group, to which it falls back when later writes are lost.
	 */
	public static Object snapshot(MemoryCoordinationStore store) {
		return store.snapshot();
	}

	/** Takes a group back to what it was; subscriptions are what they are. */
	public static void loseWritesSince(MemoryCoordinationStore store, Object snapshot) {
		store.loseWritesSince((MemoryCoordinationStore.Snapshot) snapshot);
	}

	/** Takes everything from a group; subscriptions are what they are. */
	public static void empty(MemoryCoordinationStore store) {
		store.empty();
	}

	/** Closes all subscriptions, as a server does when it ends. */
	public static void closeSubscriptions(MemoryCoordinationStore store) {
		store.closeSubscriptions();
	}

	/**
	 * Returns the checkpoints of a group, to which it falls back when later writes are
	 * lost.
	 */
	public static Object snapshot(MemoryCheckpointStore store) {
		return store.snapshot();
	}

	/** Takes all checkpoints back to what they were. */
	public static void loseWritesSince(MemoryCheckpointStore store, Object snapshot) {
		store.loseWritesSince((MemoryCheckpointStore.Snapshot) snapshot);
	}

	/** The records in a shard's retry queue, due or not. */
	public static List<Offset> queued(MemoryCheckpointStore store, ShardId shard) {
		return store.with(shard,
				(data, nowMillis) -> data.due(Integer.MAX_VALUE, Long.MAX_VALUE, Set.of(), Long.MAX_VALUE)
					.records()
					.stream()
					.map(FailedRecord::offset)
					.toList());
	}

	/** Whether a shard has come to its end, as far as its data says. */
	public static boolean isCompleted(MemoryCheckpointStore store, ShardId shard) {
		return store.with(shard, (data, nowMillis) -> data.isCompleted());
	}

	/** Takes all checkpoints away. */
	public static void empty(MemoryCheckpointStore store) {
		store.empty();
	}

}
