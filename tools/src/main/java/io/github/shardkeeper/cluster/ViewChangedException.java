package io.github.shardkeeper.cluster;

/**
 * Thrown if an instance enters a {@link DoubleBarrier} with a view that is not that of
 * the group, or the group's view changes before all are in. Nobody has begun the round. A
 * retry with {@link ClusterView#current()}, which usually knows the new view already,
 * makes sense.
 */
public class ViewChangedException extends RuntimeException {

	public ViewChangedException(String message) {
		super(message);
	}

}
