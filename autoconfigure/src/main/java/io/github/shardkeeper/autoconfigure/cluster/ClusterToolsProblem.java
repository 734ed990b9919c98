package io.github.shardkeeper.autoconfigure.cluster;

import java.util.Optional;

/**
 * Tells health what keeps the cluster tools from working. There is none without their
 * module.
 */
@FunctionalInterface
public interface ClusterToolsProblem {

	/** Returns the problem; empty if they work or are not used. */
	Optional<String> find();

}
