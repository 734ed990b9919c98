package io.github.shardkeeper.checkpoint.memory;

import java.time.Instant;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStoreContract;
import io.github.shardkeeper.coordination.memory.MemoryFailover;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryCheckpointStoreTests extends CheckpointStoreContract {

	@Override
	protected CheckpointStore createStore() {
		return new MemoryCheckpointStore();
	}

	@Override
	protected Object snapshot(CheckpointStore created) {
		return MemoryFailover.snapshot((MemoryCheckpointStore) created);
	}

	@Override
	protected void loseWritesSince(CheckpointStore created, Object snapshot) {
		MemoryFailover.loseWritesSince((MemoryCheckpointStore) created, snapshot);
	}

	@Override
	protected void empty(CheckpointStore created) {
		MemoryFailover.empty((MemoryCheckpointStore) created);
	}

	/** Records are found by that clock, and that of this machine may be ahead. */
	@Test
	void topicIsConsumedSinceATimeOfTheSource() {
		Instant[] source = { Instant.parse("2026-11-23T00:00:00Z") };
		MemoryCheckpointStore store = MemoryCheckpointStore.besides(() -> source[0]);

		assertThat(store.consumedSince("prices")).isEqualTo(source[0]);
		Instant first = source[0];
		source[0] = first.plusSeconds(10);
		assertThat(store.consumedSince("prices")).isEqualTo(first);
	}

}
