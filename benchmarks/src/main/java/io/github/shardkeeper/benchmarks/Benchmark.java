package io.github.shardkeeper.benchmarks;

/**
 * A comparison that runs from one command and prints what it found. Confined to the
 * thread that runs it.
 */
public interface Benchmark {

	/**
	 * What it measures, and its options.
	 * @return some words for the list of benchmarks
	 */
	String description();

	/**
	 * Runs it, printing to standard output.
	 * @param options what was asked for
	 * @throws Exception when it cannot be measured, or when a contender did not do what
	 * it was measured for
	 */
	void run(Options options) throws Exception;

}
