package io.github.shardkeeper.coordination;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.github.shardkeeper.handover.Lease;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Says when the lease has ended. Has a thread of its own, so that neither a heartbeat
 * that hangs nor a slow plan can make it late. Thread-safe.
 */
final class LeaseGuard implements AutoCloseable {

	private final Lease lease;

	private final MonotonicClock clock;

	private final Runnable onEnd;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final SupervisedThread thread;

	/** Only the thread writes it. */
	private volatile boolean held;

	LeaseGuard(Lease lease, MonotonicClock clock, Runnable onEnd) {
		this.lease = lease;
		this.clock = clock;
		this.onEnd = onEnd;
		this.thread = SupervisedThread.start("shardkeeper-lease", this::watch);
	}

	/** The lease was ended, or may be held again: look at once. */
	void leaseChanged() {
		this.lock.lock();
		try {
			this.changed.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether it has seen that the lease is held, and waits for its end. */
	boolean isArmed() {
		return this.held;
	}

	private void watch() throws InterruptedException {
		boolean heldNow = awaitChange();
		this.held = heldNow;
		if (!heldNow) {
			this.onEnd.run();
		}
	}

	private boolean awaitChange() throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			while (true) {
				MonotonicTime now = this.clock.now();
				boolean heldNow = this.lease.isHeld(now);
				if (heldNow != this.held) {
					return heldNow;
				}
				if (heldNow) {
					this.changed.await(now.until(this.lease.endsAt()).toNanos(), TimeUnit.NANOSECONDS);
				}
				else {
					this.changed.await();
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void close() {
		this.thread.close();
	}

}
