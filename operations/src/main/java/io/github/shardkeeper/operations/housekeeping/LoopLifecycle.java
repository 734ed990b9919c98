package io.github.shardkeeper.operations.housekeeping;

import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.loop.Loops;

/**
 * Lifecycle of work that one supervised loop does while the application runs.
 * Thread-safe.
 */
abstract class LoopLifecycle implements SmartLifecycle {

	private final int phase;

	private Loops.@Nullable Loop loop;

	LoopLifecycle(int phase) {
		this.phase = phase;
	}

	/** Starts the loop; returns {@code null} if there is nothing to do. */
	abstract Loops.@Nullable Loop startLoop();

	@Override
	public final synchronized void start() {
		if (this.loop == null) {
			this.loop = startLoop();
		}
	}

	@Override
	public final synchronized void stop() {
		if (this.loop != null) {
			this.loop.close();
			this.loop = null;
		}
	}

	@Override
	public final synchronized boolean isRunning() {
		return this.loop != null;
	}

	@Override
	public final int getPhase() {
		return this.phase;
	}

}
