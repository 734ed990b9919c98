package io.github.shardkeeper.loop;

import org.jspecify.annotations.Nullable;

/**
 * Lifecycle of work that one supervised loop does while the application runs.
 * Thread-safe.
 */
public abstract class LoopLifecycle extends PhasedLifecycle {

	private Loops.@Nullable Loop loop;

	protected LoopLifecycle(int phase) {
		super(phase);
	}

	/** Starts the loop; returns {@code null} if there is nothing to do. */
	protected abstract Loops.@Nullable Loop startLoop();

	@Override
	protected final synchronized void doStart() {
		this.loop = startLoop();
	}

	@Override
	protected final synchronized void doStop() {
		if (this.loop != null) {
			this.loop.close();
			this.loop = null;
		}
	}

}
