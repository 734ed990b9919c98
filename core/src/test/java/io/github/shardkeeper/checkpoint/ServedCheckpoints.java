package io.github.shardkeeper.checkpoint;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.github.shardkeeper.coordination.store.StoreServer;

/** Set-up of contracts that change the time or the data of a store's server. */
abstract class ServedCheckpoints {

	CheckpointStore store;

	StoreServer server;

	/** Server of the store of this test, with a stopped clock. */
	protected abstract StoreServer createServer();

	/**
	 * Creates a store for a group that never existed before.
	 * @return the store, which the contract closes
	 */
	protected abstract CheckpointStore createStore(StoreServer created);

	@BeforeEach
	protected final void openStore() {
		this.server = createServer();
		this.store = createStore(this.server);
	}

	@AfterEach
	protected final void closeStore() {
		this.store.close();
	}

}
