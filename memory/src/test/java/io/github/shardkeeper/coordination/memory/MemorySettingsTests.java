package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.SettingsStoreContract;

class MemorySettingsTests extends SettingsStoreContract {

	@Override
	protected CoordinationStore createStore() {
		return new MemoryCoordinationStore();
	}

}
