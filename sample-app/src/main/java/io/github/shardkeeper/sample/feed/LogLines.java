package io.github.shardkeeper.sample.feed;

import java.io.IOException;
import java.util.List;

import io.github.shardkeeper.sample.AccessLine;

/**
 * Lines of an access log, numbered from 0. A number means the same line on every
 * instance, because a new feeder may repeat lines of the previous one. Confined to the
 * feeder's thread.
 */
interface LogLines {

	/**
	 * Returns the name of this source, the same on all instances.
	 * @return the name
	 */
	String name();

	/**
	 * Reads lines.
	 * @param first the number of the first one
	 * @param most the maximum number of lines
	 * @return the lines; empty at the end of the log
	 * @throws IOException when they cannot be read
	 */
	List<AccessLine> read(long first, int most) throws IOException;

}
