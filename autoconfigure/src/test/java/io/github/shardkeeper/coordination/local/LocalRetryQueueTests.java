package io.github.shardkeeper.coordination.local;

import java.nio.file.Path;

import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.RetryQueueContract;
import io.github.shardkeeper.coordination.StoreServer;

class LocalRetryQueueTests extends RetryQueueContract {

	@TempDir
	private Path directory;

	@Override
	protected StoreServer createServer() {
		return new LocalDataServer(this.directory);
	}

	@Override
	protected CheckpointStore createStore(StoreServer created) {
		return ((LocalDataServer) created).store();
	}

}
