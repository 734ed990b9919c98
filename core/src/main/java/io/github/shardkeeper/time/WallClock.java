package io.github.shardkeeper.time;

import java.time.Instant;
import java.time.InstantSource;

/**
 * Clock on the wall, of a type that no application defines by chance. Thread-safe.
 */
@FunctionalInterface
public interface WallClock extends InstantSource {

	/** The system's clock. */
	WallClock SYSTEM = new WallClock() {

		@Override
		public Instant instant() {
			return Instant.now();
		}

		/** Without an object for each call of a handler. */
		@Override
		public long millis() {
			return System.currentTimeMillis();
		}

	};

}
