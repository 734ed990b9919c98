package io.github.shardkeeper.time;

import java.time.InstantSource;

/**
 * Clock on the wall, of a type that no application defines by chance. Thread-safe.
 */
@FunctionalInterface
public interface WallClock extends InstantSource {

	/** The system's clock. */
	WallClock SYSTEM = new SystemClock();

}
