package io.github.shardkeeper.checkpoint.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CommitHistoryContract;

class MemoryCommitHistoryTests extends CommitHistoryContract {

	@Override
	protected CheckpointStore createStore() {
		return new MemoryCheckpointStore();
	}

}
