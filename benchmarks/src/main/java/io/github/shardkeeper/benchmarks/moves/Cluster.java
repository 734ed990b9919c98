package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Servers of the instances: source of records and coordination. Confined to one thread,
 * except for sending.
 */
interface Cluster extends AutoCloseable {

	/**
	 * Sends one record to each shard; does not wait for the answer.
	 * @param payload the payload of each
	 */
	void send(byte[] payload);

	/**
	 * Returns the command line of an instance.
	 * @param group the group that it belongs to
	 * @param name its name
	 * @param trace the file for its trace
	 * @param release the release of the application, for contenders that know of such
	 * @return the arguments after the command {@code java} and its options
	 */
	List<String> instance(String group, String name, Path trace, int release);

	/** Stops the server for a time, and continues it. */
	default void stall(long millis) throws IOException, InterruptedException {
		throw new UnsupportedOperationException("No benchmark stops this server");
	}

	/** Returns a short description of the servers. */
	String version();

	@Override
	void close();

}
