package io.github.shardkeeper.cluster.session;

import java.time.Duration;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.coordination.ShardCoordinator;

/**
 * Makes an instance that consumes no topic a member of the group, with the first cluster
 * tool that it uses. Starts after the consumers and stops before them. Thread-safe.
 */
public final class ClusterMembership implements SmartLifecycle {

	private final ClusterSession session;

	private final ShardCoordinator coordinator;

	private final Duration stopTimeout;

	private final int phase;

	private volatile boolean running;

	/** Whether this has started the coordinator. Guarded by this. */
	private boolean joined;

	/**
	 * Creates it, not started.
	 * @param stopTimeout the maximum duration of a stop
	 * @param phase the phase of its lifecycle
	 */
	public ClusterMembership(ClusterSession session, ShardCoordinator coordinator, Duration stopTimeout, int phase) {
		this.session = session;
		this.coordinator = coordinator;
		this.stopTimeout = stopTimeout;
		this.phase = phase;
	}

	@Override
	public void start() {
		this.running = true;
		this.session.start(this::join);
	}

	private synchronized void join() {
		if (this.running && this.coordinator.startWithoutShards()) {
			this.joined = true;
		}
	}

	@Override
	public void stop() {
		this.session.stop();
		this.running = false;
		boolean leave;
		synchronized (this) {
			leave = this.joined;
			this.joined = false;
		}
		if (leave) {
			this.coordinator.stop(this.stopTimeout);
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return this.phase;
	}

}
