package io.github.shardkeeper.coordination;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Says when the lease has ended. Is a loop of its own, so that neither a heartbeat that
 * hangs nor a slow plan can make it late. Thread-safe.
 */
final class LeaseGuard implements AutoCloseable {

	private final Lease lease;

	private final MonotonicClock clock;

	private final Runnable onEnd;

	private final Loops.Loop loop;

	/** Only the loop writes it. */
	private volatile boolean held;

	LeaseGuard(Lease lease, MemberRuntime runtime, Runnable onEnd) {
		this.lease = lease;
		this.clock = runtime.clock();
		this.onEnd = onEnd;
		this.loop = runtime.loops().start("shardkeeper-lease", this::look);
	}

	/** Has it look at once: the lease was ended, or may be held again. */
	void leaseChanged() {
		this.loop.wake();
	}

	/** Returns whether it has seen that the lease is held, and waits for its end. */
	boolean isArmed() {
		return this.held;
	}

	private @Nullable MonotonicTime look() {
		boolean heldNow = this.lease.isHeld(this.clock.now());
		if (this.held && !heldNow) {
			// Only then counted as told: if it throws, the loop looks again soon.
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
