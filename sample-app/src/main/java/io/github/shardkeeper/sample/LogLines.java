package io.github.shardkeeper.sample;

import java.io.IOException;
import java.util.List;

/**
 * The lines of an access log, numbered from 0. The same number always gives the same
 * line, on every instance: whoever takes over the feeding repeats some. Confined to the
 * feeder's thread.
 */
interface LogLines {

	/**
	 * Tells this source from others.
	 * @return the same name on all instances
	 */
	String name();

	/**
	 * Reads lines.
	 * @param first the number of the first one
	 * @param most how many at most
	 * @return the lines; empty at the end of the log
	 * @throws IOException when they cannot be read
	 */
	List<AccessLine> read(long first, int most) throws IOException;

}
