package io.github.shardkeeper.cluster;

/** The double barriers of the group. Thread-safe. */
public interface DoubleBarriers {

	/**
	 * Returns a barrier. It exists in the store only while an instance is in it.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @return the barrier; the same one for all threads of this instance that use the
	 * name
	 * @throws IllegalArgumentException if the name is not valid
	 */
	DoubleBarrier get(String name);

}
