package io.github.shardkeeper.checkpoint.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.RemovalContract;
import io.github.shardkeeper.coordination.store.StoreServer;

class MemoryRemovalTests extends RemovalContract {

	@Override
	protected StoreServer createServer() {
		return new MemoryDataServer();
	}

	@Override
	protected CheckpointStore createStore(StoreServer created) {
		return ((MemoryDataServer) created).store();
	}

	@Override
	protected DeadLetterStore createLetters(StoreServer created) {
		return ((MemoryDataServer) created).letters();
	}

}
