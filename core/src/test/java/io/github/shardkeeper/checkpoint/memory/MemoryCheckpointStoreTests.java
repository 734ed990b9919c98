package io.github.shardkeeper.checkpoint.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStoreContract;
import io.github.shardkeeper.coordination.memory.MemoryFailover;

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
