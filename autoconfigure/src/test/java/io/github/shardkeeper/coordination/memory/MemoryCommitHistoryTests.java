package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CommitHistoryContract;

class MemoryCommitHistoryTests extends CommitHistoryContract {

	@Override
	protected CheckpointStore createStore() {
		return new MemoryCheckpointStore();
	}

}
