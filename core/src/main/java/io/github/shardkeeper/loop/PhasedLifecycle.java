package io.github.shardkeeper.loop;

import org.springframework.context.SmartLifecycle;

/**
 * Lifecycle of what starts and stops with the application, in one phase. It is running as
 * soon as it begins, and no longer when it ends. Started and stopped by one thread at a
 * time, as Spring does; otherwise thread-safe.
 */
public abstract class PhasedLifecycle implements SmartLifecycle {

	private final int phase;

	private volatile boolean running;

	/**
	 * Creates a lifecycle that is not started.
	 * @param phase the phase; higher ones start later and stop earlier
	 */
	protected PhasedLifecycle(int phase) {
		this.phase = phase;
	}

	/** Begins the work, if there is any before it is asked for. */
	protected void doStart() {
	}

	/** Ends the work, and waits for that. Harmless if nothing was begun. */
	protected abstract void doStop();

	@Override
	public final void start() {
		if (!this.running) {
			this.running = true;
			doStart();
		}
	}

	@Override
	public final void stop() {
		this.running = false;
		doStop();
	}

	@Override
	public final boolean isRunning() {
		return this.running;
	}

	@Override
	public final int getPhase() {
		return this.phase;
	}

}
