package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.GroupNotes;
import io.github.shardkeeper.coordination.GroupNotesContract;

class MemoryNotesTests extends GroupNotesContract {

	@Override
	protected GroupNotes createNotes() {
		return new MemoryCoordinationStore().notes();
	}

}
