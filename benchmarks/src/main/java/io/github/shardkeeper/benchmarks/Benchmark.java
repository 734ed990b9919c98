package io.github.shardkeeper.benchmarks;

/**
 * A comparison that runs from one command and prints its results. Confined to the thread
 * that runs it.
 */
public interface Benchmark {

	/**
	 * Describes its figures and options.
	 * @return the description for the list of benchmarks
	 */
	String description();

	/**
	 * Runs it, printing to standard output.
	 * @param options the options of this run
	 * @throws Exception if it cannot be measured, or if a contender failed
	 */
	void run(Options options) throws Exception;

}
