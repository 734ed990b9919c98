package io.github.shardkeeper.cluster.memory;

import java.time.Duration;
import java.time.Instant;

import io.github.shardkeeper.cluster.signal.SignalStoreContract;
import io.github.shardkeeper.cluster.signal.SignalStores;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;

class MemorySignalStoreTests extends SignalStoreContract {

	private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

	@Override
	protected SignalStores openStores() {
		MemoryCoordinationStore group = new MemoryCoordinationStore(() -> this.now);
		MemoryCluster cluster = MemoryCluster.of(group);
		return new SignalStores(group, cluster, new MemoryViewStore(cluster), new MemorySignalStore(cluster), () -> {
		});
	}

	@Override
	protected void advance(Duration duration) {
		this.now = this.now.plus(duration);
	}

}
