package io.github.shardkeeper.coordination.member;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reports the end of the lease. Has a loop of its own, so that neither a hanging
 * heartbeat nor a slow plan can delay it. Thread-safe.
 */
final class LeaseGuard implements AutoCloseable {

	private final Lease lease;

	private final MonotonicClock clock;

	private final Runnable onEnd;

	private final Loops.Loop loop;

	/** Written only by the loop. */
	private volatile boolean held;

	LeaseGuard(Lease lease, MemberRuntime runtime, Runnable onEnd) {
		this.lease = lease;
		this.clock = runtime.clock();
		this.onEnd = onEnd;
		this.loop = runtime.loops().start("shardkeeper-lease", this::check);
	}

	/** Checks the lease at once: it was ended, or may be held again. */
	void leaseChanged() {
		this.loop.wake();
	}

	/** Returns whether the guard waits for the end of a held lease. */
	boolean isArmed() {
		return this.held;
	}

	private @Nullable MonotonicTime check() {
		boolean heldNow = this.lease.isHeld(this.clock.now());
		if (this.held && !heldNow) {
			// If this throws, the loop checks again soon.
			this.onEnd.run();
		}
		this.held = heldNow;
		return heldNow ? this.lease.endsAt() : null;
	}

	@Override
	public void close() {
		this.loop.close();
	}

}
