package io.github.shardkeeper.cluster.memory;

import io.github.shardkeeper.cluster.signal.ClusterSignalsContract;
import io.github.shardkeeper.cluster.signal.SignalStores;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;

class MemoryClusterSignalsTests extends ClusterSignalsContract {

	private final MemoryCoordinationStore group = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.group);

	@Override
	protected SignalStores openStores() {
		return new SignalStores(this.group, this.cluster, new MemoryViewStore(this.cluster),
				new MemorySignalStore(this.cluster), () -> {
				});
	}

}
