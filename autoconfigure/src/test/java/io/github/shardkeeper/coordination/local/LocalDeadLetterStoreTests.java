package io.github.shardkeeper.coordination.local;

import java.nio.file.Path;

import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.DeadLetterContract;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.StoreServer;

class LocalDeadLetterStoreTests extends DeadLetterContract {

	@TempDir
	private Path directory;

	@Override
	protected StoreServer createServer() {
		return new LocalDataServer(this.directory);
	}

	@Override
	protected CheckpointStore createCheckpoints(StoreServer created) {
		return ((LocalDataServer) created).store();
	}

	@Override
	protected DeadLetterStore createLetters(StoreServer created) {
		return ((LocalDataServer) created).store().deadLetters();
	}

}
