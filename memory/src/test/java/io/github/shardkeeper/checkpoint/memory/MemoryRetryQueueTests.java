package io.github.shardkeeper.checkpoint.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.RetryQueueContract;
import io.github.shardkeeper.coordination.store.StoreServer;

class MemoryRetryQueueTests extends RetryQueueContract {

	@Override
	protected StoreServer createServer() {
		return new MemoryDataServer();
	}

	@Override
	protected CheckpointStore createStore(StoreServer created) {
		return ((MemoryDataServer) created).store();
	}

}
