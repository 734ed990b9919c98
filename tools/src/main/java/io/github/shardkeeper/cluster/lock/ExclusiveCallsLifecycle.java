package io.github.shardkeeper.cluster.lock;

import java.time.Duration;

import io.github.shardkeeper.loop.PhasedLifecycle;

/**
 * Keeps this instance in the group, and so the locks, until the running calls of
 * {@link io.github.shardkeeper.cluster.ClusterExclusive} methods have ended. Thread-safe.
 */
public final class ExclusiveCallsLifecycle extends PhasedLifecycle {

	private final ExclusiveCallsPostProcessor processor;

	private final Duration stopTimeout;

	/**
	 * Creates it, not started.
	 * @param stopTimeout the longest wait for running calls
	 * @param phase the phase, higher than that of what leaves the group
	 */
	public ExclusiveCallsLifecycle(ExclusiveCallsPostProcessor processor, Duration stopTimeout, int phase) {
		super(phase);
		this.processor = processor;
		this.stopTimeout = stopTimeout;
	}

	@Override
	protected void doStart() {
		this.processor.calls().start();
	}

	@Override
	protected void doStop() {
		try {
			this.processor.calls().stop(this.stopTimeout);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
