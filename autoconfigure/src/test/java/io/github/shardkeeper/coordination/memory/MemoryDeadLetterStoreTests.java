package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.DeadLetterContract;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.StoreServer;

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
