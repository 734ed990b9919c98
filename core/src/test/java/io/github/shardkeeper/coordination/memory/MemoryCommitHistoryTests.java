package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CommitHistoryContract;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;

class MemoryCommitHistoryTests extends CommitHistoryContract {

	@Override
	protected CheckpointStore createStore() {
		return new MemoryCheckpointStore();
	}

}
