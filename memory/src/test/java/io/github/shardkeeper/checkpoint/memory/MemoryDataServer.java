package io.github.shardkeeper.checkpoint.memory;

import java.time.Duration;
import java.time.Instant;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.store.StoreServer;

/**
 * A checkpoint store in memory with a clock that stands still until it is moved.
 */
public final class MemoryDataServer implements StoreServer {

	private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

	private final MemoryCheckpointStore store = new MemoryCheckpointStore(() -> this.now);

	public CheckpointStore store() {
		return this.store;
	}

	public DeadLetterStore letters() {
		return new MemoryDeadLetterStore(this.store);
	}

	@Override
	public void advance(Duration duration) {
		this.now = this.now.plus(duration);
	}

	@Override
	public Object snapshot() {
		return this.store.snapshot();
	}

	@Override
	public void loseWritesSince(Object snapshot) {
		this.store.loseWritesSince((MemoryCheckpointStore.Snapshot) snapshot);
	}

	@Override
	public void empty() {
		this.store.empty();
	}

}
