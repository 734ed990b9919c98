package io.github.shardkeeper.coordination.memory;

import java.time.Duration;
import java.time.Instant;

import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistoryContract;

class MemoryMoveHistoryTests extends MoveHistoryContract {

	private Instant now = Instant.parse("2026-11-24T10:00:00Z");

	@Override
	protected MoveHistory create(Bounds bounds) {
		return new MemoryMoveHistory(bounds, () -> this.now);
	}

	@Override
	protected void pass(Duration time) {
		this.now = this.now.plus(time);
	}

}
