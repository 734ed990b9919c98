package io.github.shardkeeper.cluster.memory;

import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.cluster.parameter.ParameterStoreContract;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.memory.MemoryServer;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;

class MemoryParameterStoreTests extends ParameterStoreContract {

	private final MemoryServer server = new MemoryServer(500);

	private final MemoryCluster cluster = MemoryCluster.of(this.server.store());

	@Override
	protected CoordinationStore group() {
		return this.server.store();
	}

	@Override
	protected ClusterMessages messages() {
		return this.cluster;
	}

	@Override
	protected StoreServer server() {
		return this.server;
	}

	@Override
	protected ViewStore views() {
		return new MemoryViewStore(this.cluster);
	}

	@Override
	protected ParameterStore parameters() {
		return new MemoryParameterStore(this.cluster);
	}

}
