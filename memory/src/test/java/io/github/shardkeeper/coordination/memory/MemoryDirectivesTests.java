package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.DirectiveStoreContract;

class MemoryDirectivesTests extends DirectiveStoreContract {

	@Override
	protected CoordinationStore createStore() {
		return new MemoryCoordinationStore();
	}

}
