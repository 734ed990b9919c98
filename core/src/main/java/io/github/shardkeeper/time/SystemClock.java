package io.github.shardkeeper.time;

import java.time.Instant;

/**
 * The system's clock on the wall. Thread-safe.
 */
final class SystemClock implements WallClock {

	@Override
	public Instant instant() {
		return Instant.now();
	}

	/** Creates no object: it is read for each call of a handler. */
	@Override
	public long millis() {
		return System.currentTimeMillis();
	}

}
