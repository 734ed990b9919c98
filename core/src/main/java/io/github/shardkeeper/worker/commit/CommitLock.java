package io.github.shardkeeper.worker.commit;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Turn to commit a shard, for calls whose transactions are open at the same time. Who has
 * it knows the number of the last commit, and is the only one whose transaction may lock
 * the shard's row. It is taken after everything else that a transaction waits for, its
 * connection included, so calls that wait for it never stop the one that has it.
 * Thread-safe.
 */
final class CommitLock {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition free = this.lock.newCondition();

	/** Guarded by the lock, as is {@link #kept}. */
	private boolean taken;

	private boolean kept;

	/**
	 * Takes the turn.
	 * @param limit the maximum time to wait
	 * @return whether it was taken; it is not while it is {@linkplain #keep kept}
	 * @throws InterruptedException if the thread is interrupted while it waits
	 */
	boolean take(Duration limit) throws InterruptedException {
		long left = limit.toNanos();
		this.lock.lockInterruptibly();
		try {
			while (this.taken && !this.kept) {
				if (left <= 0) {
					return false;
				}
				left = this.free.awaitNanos(left);
			}
			boolean isFree = !this.kept;
			this.taken |= isFree;
			return isFree;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Keeps the turn until {@link #giveBack}, because nobody knows the number of the last
	 * commit. Calls that wait for it give up, and with that their connections.
	 */
	void keep() {
		this.lock.lock();
		try {
			this.kept = true;
			this.free.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Gives back the turn, on any thread. */
	void giveBack() {
		this.lock.lock();
		try {
			this.taken = false;
			this.kept = false;
			this.free.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

}
