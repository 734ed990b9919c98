package io.github.shardkeeper.coordination.memory;

import java.time.Duration;
import java.time.Instant;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;

/**
 * A coordination store in memory with a clock that stands still until it is moved.
 */
public final class MemoryServer implements StoreServer {

	private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

	private final MemoryCoordinationStore store;

	MemoryServer() {
		this.store = new MemoryCoordinationStore(() -> this.now);
	}

	/**
	 * Creates a server whose store does only a little at once.
	 * @param batch how much
	 */
	public MemoryServer(int batch) {
		this.store = new MemoryCoordinationStore(() -> this.now, batch, batch);
	}

	public MemoryCoordinationStore store() {
		return this.store;
	}

	public void setTime(Instant time) {
		this.now = time;
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
		this.store.loseWritesSince((MemoryCoordinationStore.Snapshot) snapshot);
	}

	@Override
	public void empty() {
		this.store.empty();
	}

}
