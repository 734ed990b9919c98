package io.github.shardkeeper.history;

import java.time.Duration;
import java.time.Instant;

import io.github.shardkeeper.history.MoveHistory.Bounds;

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
