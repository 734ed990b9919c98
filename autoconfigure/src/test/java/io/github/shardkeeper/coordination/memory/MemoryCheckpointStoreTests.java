package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CheckpointStoreContract;

class MemoryCheckpointStoreTests extends CheckpointStoreContract {

	@Override
	protected CheckpointStore createStore() {
		return new MemoryCheckpointStore();
	}

}
