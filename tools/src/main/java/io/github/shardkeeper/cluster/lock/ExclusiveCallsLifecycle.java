package io.github.shardkeeper.cluster.lock;

import java.time.Duration;

import org.springframework.context.SmartLifecycle;

/**
 * Keeps this instance in the group, and so the locks, until the running calls of
 * {@link io.github.shardkeeper.cluster.ClusterExclusive} methods have ended. Thread-safe.
 */
public final class ExclusiveCallsLifecycle implements SmartLifecycle {

	private final ExclusiveCallsPostProcessor processor;

	private final Duration stopTimeout;

	private final int phase;

	private volatile boolean running;

	/**
	 * Creates it, not started.
	 * @param stopTimeout the longest wait for running calls
	 * @param phase the phase, higher than that of what leaves the group
	 */
	public ExclusiveCallsLifecycle(ExclusiveCallsPostProcessor processor, Duration stopTimeout, int phase) {
		this.processor = processor;
		this.stopTimeout = stopTimeout;
		this.phase = phase;
	}

	@Override
	public void start() {
		this.running = true;
		this.processor.calls().start();
	}

	@Override
	public void stop() {
		try {
			this.processor.calls().stop(this.stopTimeout);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.running = false;
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
