package io.github.shardkeeper.checkpoint.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterContract;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.store.StoreServer;

class MemoryDeadLetterStoreTests extends DeadLetterContract {

	@Override
	protected StoreServer createServer() {
		return new MemoryDataServer();
	}

	@Override
	protected CheckpointStore createCheckpoints(StoreServer created) {
		return ((MemoryDataServer) created).store();
	}

	@Override
	protected DeadLetterStore createLetters(StoreServer created) {
		return ((MemoryDataServer) created).letters();
	}

}
