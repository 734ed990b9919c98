package io.github.shardkeeper.cluster.memory;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.lock.LockStoreContract;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.memory.MemoryServer;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryLockStoreTests extends LockStoreContract {

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
	protected LockStore locks() {
		return new MemoryLockStore(this.cluster);
	}

	@Test
	void usersOfOneGroupReceiveTheSameMessages() {
		assertThat(MemoryCluster.of(this.server.store())).isSameAs(this.cluster);
		assertThat(MemoryCluster.of(new MemoryServer(500).store())).isNotSameAs(this.cluster);
	}

}
