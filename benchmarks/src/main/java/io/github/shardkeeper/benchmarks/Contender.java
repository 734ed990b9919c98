package io.github.shardkeeper.benchmarks;

/**
 * A system that is compared with others.
 */
public interface Contender {

	/** Returns its name in tables. */
	String text();

}
