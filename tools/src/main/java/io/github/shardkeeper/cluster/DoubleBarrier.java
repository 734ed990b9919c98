package io.github.shardkeeper.cluster;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * A barrier at which instances of the group begin and end a round of work together:
 * {@link #enter} returns when all parties are in, {@link #leave} when all are done. A
 * party is an instance, not a thread: one thread enters, and the same or another one
 * leaves.
 * <p>
 * A party that dies before the barrier is full is not in any more; the others wait for
 * another one until their time-out. A party that dies later, without having left, or
 * {@linkplain #abort() aborts}, breaks the round: each of the others hears of it when it
 * leaves. So a round is complete if {@code leave} returns without an exception, and then
 * it does so for all parties whose session goes on and whose time-out has not passed. The
 * barrier can be used again: a party that comes while a round is under way waits for the
 * next one.
 * <p>
 * Not guaranteed: an order, or that a party that comes again and again gets in if there
 * are more than fit in. A party whose process is frozen beyond its session counts as
 * dead, and may do a part of its work when it continues: {@code leave} tells it
 * afterwards. A failover of Redis that loses acknowledged writes may lose a round; its
 * parties hear of it when they leave (see {@code shardkeeper.redis.wait-for-replicas}).
 * <p>
 * Time-outs may be exceeded by the time limits of two replies of the store. Thread-safe;
 * methods block, so they must not be called by a listener that others wait for.
 */
public interface DoubleBarrier {

	/** Returns the name of the barrier. */
	String name();

	/**
	 * Enters, and waits until all parties are in.
	 * @param parties the number of parties, at least 1; the same for all of a round
	 * @param timeout the longest wait; zero to enter only if this is the last party
	 * @throws TimeoutException if not all were in before the time-out, or the store did
	 * not reply; this instance is not in any more. A retry makes sense
	 * @throws InterruptedException if the thread is interrupted; this instance is not in
	 * any more
	 * @throws BarrierBrokenException if the session of this instance has ended. A retry
	 * makes sense: it enters in the next session
	 * @throws IllegalArgumentException if the number or the time-out is not valid, or
	 * those who wait have come with another number
	 * @throws IllegalStateException if this instance has entered already and not left,
	 * before the application has started, and after it has stopped
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store refuses it,
	 * for example for a missing right
	 */
	void enter(int parties, Duration timeout) throws InterruptedException, TimeoutException;

	/**
	 * Enters a round of exactly the members of a view, and waits until all are in. When
	 * it returns, all of them have come with the same view.
	 * @param view a view of {@link ClusterView#current()}, with this instance in it
	 * @param timeout the longest wait
	 * @throws ViewChangedException if the group has another view, now or before all were
	 * in; this instance is not in. A retry with {@link ClusterView#current()} makes sense
	 * @throws TimeoutException if not all were in before the time-out, or the store did
	 * not reply; this instance is not in any more. A retry makes sense
	 * @throws InterruptedException if the thread is interrupted; this instance is not in
	 * any more
	 * @throws BarrierBrokenException if the session of this instance has ended
	 * @throws IllegalArgumentException if the view does not contain this instance, the
	 * time-out is negative, or those who wait have come without a view
	 * @throws IllegalStateException if this instance has entered already and not left,
	 * before the application has started, and after it has stopped
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store refuses it
	 */
	void enter(ClusterView.View view, Duration timeout) throws InterruptedException, TimeoutException;

	/**
	 * Leaves, and waits until all parties have left. Whatever it throws, except
	 * {@link IllegalStateException}, this instance has left then; if the store does not
	 * reply now, it is notified later.
	 * @param timeout the longest wait; zero for none
	 * @throws BarrierBrokenException if the round is not complete: a party has died
	 * without leaving or has aborted, the session of this instance has ended, or the
	 * store has lost the round. A retry of the whole round makes sense
	 * @throws TimeoutException if not all had left before the time-out, or the store did
	 * not reply; whether the round becomes complete stays unknown
	 * @throws InterruptedException if the thread is interrupted
	 * @throws IllegalStateException if this instance has not entered
	 * @throws IllegalArgumentException if the time-out is negative
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store refuses it
	 */
	void leave(Duration timeout) throws InterruptedException, TimeoutException;

	/**
	 * Leaves without being done, for example because the work has failed: the round is
	 * broken, and the others hear of it when they leave. Does not wait for them; if the
	 * store does not reply now, it is notified later. Does nothing if this instance is
	 * not in, so that it can be called in a {@code finally} block after {@link #leave}.
	 */
	void abort();

}
