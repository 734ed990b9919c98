package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CheckpointStoreContract;

class MemoryCheckpointStoreTests extends CheckpointStoreContract {

	@Override
	protected CheckpointStore createStore() {
		return new MemoryCheckpointStore();
	}

	@Override
	protected Object snapshot(CheckpointStore created) {
		return MemoryFailover.snapshot((MemoryCheckpointStore) created);
	}

	@Override
	protected void loseWritesSince(CheckpointStore created, Object snapshot) {
		MemoryFailover.loseWritesSince((MemoryCheckpointStore) created, snapshot);
	}

	@Override
	protected void empty(CheckpointStore created) {
		MemoryFailover.empty((MemoryCheckpointStore) created);
	}

}
