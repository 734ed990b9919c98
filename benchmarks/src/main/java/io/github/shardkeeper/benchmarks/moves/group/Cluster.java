package io.github.shardkeeper.benchmarks.moves.group;

import java.nio.file.Path;
import java.util.List;

/**
 * Servers of the instances: source of records and coordination. Confined to one thread,
 * except for sending.
 */
public interface Cluster extends AutoCloseable {

	/** Sends one record to each shard; does not wait for the reply. */
	void send(byte[] payload);

	/**
	 * Returns the command line of an instance.
	 * @param trace the file for its trace
	 * @param release the release of the application, for those that know of such
	 * @return the arguments after the command {@code java} and its options
	 */
	List<String> instance(String group, String name, Path trace, int release);

	/** Stops the server that coordinates for a time, and continues it. */
	default void pause(long millis) throws InterruptedException {
		throw new UnsupportedOperationException("No benchmark stops this server");
	}

	@Override
	void close();

}
