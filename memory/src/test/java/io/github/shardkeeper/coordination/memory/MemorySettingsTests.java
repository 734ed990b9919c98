package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.SettingsStoreContract;

class MemorySettingsTests extends SettingsStoreContract {

	@Override
	protected CoordinationStore createStore() {
		return new MemoryCoordinationStore();
	}

}
