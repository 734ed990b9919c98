package io.github.shardkeeper.checkpoint.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.OwnedStateContract;
import io.github.shardkeeper.coordination.store.StoreServer;

class MemoryOwnedStateTests extends OwnedStateContract {

	@Override
	protected StoreServer createServer() {
		return new MemoryDataServer();
	}

	@Override
	protected CheckpointStore createStore(StoreServer created) {
		return ((MemoryDataServer) created).store();
	}

}
