package io.github.shardkeeper.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.shardkeeper.shard.Token;

/**
 * A lock that at most one thread of all instances of the group holds. It is reentrant for
 * its thread, platform or virtual, and costs nothing while it is held: it lasts as long
 * as the session of this instance, which heartbeats renew. An instance that dies frees
 * its locks after the lease ({@code shardkeeper.session.lease}); one that is silent but
 * still connected, for example because it is frozen, after
 * {@code shardkeeper.session.timeout}.
 * <p>
 * Threads get the lock in the order in which they asked for it, across all instances,
 * except that an instance without a lease is passed over, and that a thread whose session
 * ends while it waits asks again in the next one.
 * <p>
 * Not guaranteed: a process that is frozen in the middle of its work still believes that
 * it holds the lock when it continues, until it looks. Whatever must not be written twice
 * takes the {@link #token()} along and refuses a lower one than it has seen. A failover
 * of Redis that loses acknowledged writes may lose an acquisition; its holder hears of it
 * with the next heartbeats (see {@code shardkeeper.redis.wait-for-replicas}).
 * <p>
 * Methods throw {@link io.github.shardkeeper.StoreUnavailableException} where their text
 * says so; a retry makes sense. Thread-safe.
 */
public interface ClusterLock extends Lock {

	/** Returns the name of the lock. */
	String name();

	/**
	 * Acquires the lock. Waits for it, for the store and for a session as long as
	 * necessary, also if the thread is interrupted.
	 * @throws LockLostException if this thread has lost the lock and not unlocked it yet
	 * @throws IllegalStateException before the application context has started, for
	 * example while its beans are created, and after it has stopped
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store refuses the
	 * lock, for example for a missing right
	 */
	@Override
	void lock();

	/**
	 * Acquires the lock like {@link #lock()}, unless the thread is interrupted.
	 * @throws InterruptedException if the thread is interrupted; it does not hold the
	 * lock
	 */
	@Override
	void lockInterruptibly() throws InterruptedException;

	/**
	 * Acquires the lock if it is free and nobody waits for it.
	 * @return whether it was acquired
	 * @throws LockLostException if this thread has lost the lock and not unlocked it yet
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply, or this instance has no session, or not its lease; the thread does not hold
	 * the lock
	 */
	@Override
	boolean tryLock();

	/**
	 * Acquires the lock like {@link #lockInterruptibly()}, within a time.
	 * @return whether it was acquired; {@code false} also if the store did not reply in
	 * time
	 */
	@Override
	boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

	/**
	 * Releases the lock. If the store does not reply now, it is notified later.
	 * @throws IllegalMonitorStateException if this thread has not locked it
	 * @throws LockLostException if the lock was lost meanwhile, so that another holder
	 * may have worked at the same time; this thread has unlocked it nevertheless
	 */
	@Override
	void unlock();

	/**
	 * Returns whether this thread holds the lock now. {@code false} from the end of the
	 * lease on, and {@code true} again if the same session gets its lease back.
	 */
	boolean isHeld();

	/**
	 * Returns the fencing token of this thread's acquisition. It is higher than the
	 * tokens of all earlier holders.
	 * @throws IllegalMonitorStateException if this thread has not locked it
	 */
	Token token();

	/**
	 * Sets what happens when the lock is lost before this thread unlocks it: its session
	 * is over, the time for which it may be held has passed, or the store has lost it.
	 * Runs once, on another thread, at once if the lock is lost already.
	 * @param listener for example interrupts the work
	 * @throws IllegalMonitorStateException if this thread has not locked it
	 */
	void onLoss(Runnable listener);

	/**
	 * Not supported.
	 * @throws UnsupportedOperationException always
	 */
	@Override
	default Condition newCondition() {
		throw new UnsupportedOperationException("A cluster lock has no conditions. Wait for a signal or a barrier");
	}

}
