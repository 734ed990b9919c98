package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Path;
import java.util.List;

/**
 * What instances need around them: where records come from, and who coordinates. Confined
 * to one thread, but for sending.
 */
interface Cluster extends AutoCloseable {

	/**
	 * Sends one record to each shard; does not wait for the answer.
	 * @param payload what each carries
	 */
	void send(byte[] payload);

	/**
	 * How an instance is started.
	 * @param group the group that it belongs to
	 * @param name its name
	 * @param trace where it writes down what it handles
	 * @param release the release of the application, for contenders that know of such
	 * @return what comes behind the command {@code java} and its options
	 */
	List<String> instance(String group, String name, Path trace, int release);

	/** What is used, in some words. */
	String version();

	@Override
	void close();

}
