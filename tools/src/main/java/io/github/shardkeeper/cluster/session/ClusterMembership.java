package io.github.shardkeeper.cluster.session;

import java.time.Duration;

import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.loop.PhasedLifecycle;

/**
 * Makes an instance that consumes no topic a member of the group, with the first cluster
 * tool that it uses. Starts after the consumers and stops before them. Thread-safe.
 */
public final class ClusterMembership extends PhasedLifecycle {

	private final ClusterSession session;

	private final ShardCoordinator coordinator;

	private final Duration stopTimeout;

	/** Whether this has started the coordinator. Guarded by this. */
	private boolean joined;

	/**
	 * Creates it, not started.
	 * @param stopTimeout the maximum duration of a stop
	 * @param phase the phase of its lifecycle
	 */
	public ClusterMembership(ClusterSession session, ShardCoordinator coordinator, Duration stopTimeout, int phase) {
		super(phase);
		this.session = session;
		this.coordinator = coordinator;
		this.stopTimeout = stopTimeout;
	}

	@Override
	protected void doStart() {
		this.session.start(this::join);
	}

	private synchronized void join() {
		if (isRunning() && this.coordinator.startWithoutShards()) {
			this.joined = true;
		}
	}

	@Override
	protected void doStop() {
		this.session.stop();
		boolean leave;
		synchronized (this) {
			leave = this.joined;
			this.joined = false;
		}
		if (leave) {
			this.coordinator.stop(this.stopTimeout);
		}
	}

}
