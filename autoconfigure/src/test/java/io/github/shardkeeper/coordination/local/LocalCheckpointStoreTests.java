package io.github.shardkeeper.coordination.local;

import java.nio.file.Path;
import java.time.InstantSource;

import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CheckpointStoreContract;

class LocalCheckpointStoreTests extends CheckpointStoreContract {

	@TempDir
	private Path directory;

	private LocalDataServer server() {
		return new LocalDataServer(this.directory);
	}

	@Override
	protected CheckpointStore createStore() {
		return server().store(InstantSource.system());
	}

	@Override
	protected Object snapshot(CheckpointStore created) {
		return server().snapshot();
	}

	@Override
	protected void loseWritesSince(CheckpointStore created, Object snapshot) {
		server().loseWritesSince(snapshot);
	}

	@Override
	protected void empty(CheckpointStore created) {
		server().empty();
	}

}
