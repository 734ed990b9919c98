package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.SignalResult;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * One wait of a sender. Messages tell it of acknowledgements; it ends only with a reply
 * of the store that says the same. {@link #run} is confined to the thread that waits, the
 * rest is thread-safe.
 */
final class SignalWait {

	/** Pause after a failure, and while no message tells of acknowledgements. */
	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private static final Duration LONGEST = Duration.ofDays(3650);

	private final SignalStore store;

	private final MonotonicClock clock;

	/** Whether the store sends messages to this instance. */
	private final BooleanSupplier connected;

	private final String name;

	private final long number;

	/** The number of instances; 0 for all. */
	private final int instances;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Guarded by the lock, as is all below. The first reply of a session counts. */
	private final Map<MemberId, Handled> replies = new TreeMap<>();

	private final TreeSet<MemberId> pending = new TreeSet<>();

	private final TreeSet<MemberId> gone = new TreeSet<>();

	private boolean readWanted = true;

	/** Whether acknowledgements are those of a later signal, of which others are told. */
	private boolean superseded;

	SignalWait(SignalStore store, MonotonicClock clock, BooleanSupplier connected, String name, long number,
			int instances) {
		this.store = store;
		this.clock = clock;
		this.connected = connected;
		this.name = name;
		this.number = number;
		this.instances = instances;
	}

	String name() {
		return this.name;
	}

	/** The store may know more: reads it soon. */
	void readAgain() {
		this.lock.lock();
		try {
			this.readWanted = true;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A signal of this name was sent, perhaps a later one. */
	void sent(long other) {
		this.lock.lock();
		try {
			if (other > this.number) {
				this.superseded = true;
				this.readWanted = true;
				this.changed.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A session has acknowledged a signal of this name. */
	void told(MemberId session, Handled handled) {
		this.lock.lock();
		try {
			if (handled.number() >= this.number && handled.outcome() != Outcome.LISTENS) {
				answered(session, handled);
				if (isDone()) {
					this.readWanted = true;
					this.changed.signalAll();
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	SignalResult run(Duration timeout) throws InterruptedException {
		MonotonicTime deadline = this.clock.now().plus((timeout.compareTo(LONGEST) < 0) ? timeout : LONGEST);
		StoreUnavailableException failure = null;
		boolean read = false;
		while (true) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			boolean last = !this.clock.now().isBefore(deadline);
			if (takeReadWanted() || last) {
				try {
					update(this.store.acknowledgements(this.name));
					failure = null;
					read = true;
				}
				catch (StoreUnavailableException ex) {
					if (ex.isRefusal()) {
						throw ex;
					}
					failure = ex;
				}
			}
			this.lock.lock();
			try {
				if (failure == null && !this.readWanted && isDone()) {
					return result();
				}
				if (last) {
					if (!read && failure != null) {
						throw failure;
					}
					return result();
				}
				awaitChange(deadline, failure != null);
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	private boolean takeReadWanted() {
		this.lock.lock();
		try {
			boolean wanted = this.readWanted;
			this.readWanted = false;
			return wanted;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void awaitChange(MonotonicTime deadline, boolean failed) throws InterruptedException {
		boolean retries = failed || this.superseded || !this.connected.getAsBoolean();
		MonotonicTime retryAt = this.clock.now().plus(RETRY_PAUSE);
		MonotonicTime until = retries ? MonotonicTime.earliest(deadline, retryAt) : deadline;
		while (!this.readWanted) {
			long nanos = this.clock.now().until(until).toNanos();
			if (nanos <= 0) {
				this.readWanted = retries;
				return;
			}
			this.changed.await(nanos, TimeUnit.NANOSECONDS);
		}
	}

	private void update(Map<MemberId, Handled> known) {
		this.lock.lock();
		try {
			known.forEach((session, handled) -> {
				if (handled.number() < this.number) {
					if (!this.replies.containsKey(session)) {
						this.pending.add(session);
					}
				}
				else if (handled.outcome() == Outcome.LISTENS) {
					// Began to listen when this signal was over.
					this.pending.remove(session);
				}
				else {
					returned(session, known);
					answered(session, handled);
				}
			});
			this.pending.stream().filter((session) -> !known.containsKey(session)).forEach(this.gone::add);
			this.pending.removeAll(this.gone);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Forgets the reply of the same instance in a session that has ended. */
	private void returned(MemberId session, Map<MemberId, Handled> known) {
		this.replies.keySet()
			.removeIf((other) -> !other.equals(session) && other.instance().equals(session.instance())
					&& !known.containsKey(other));
	}

	private void answered(MemberId session, Handled handled) {
		this.replies.putIfAbsent(session, handled);
		this.pending.remove(session);
		this.gone.remove(session);
	}

	private long handled() {
		return this.replies.values().stream().filter((reply) -> reply.outcome() == Outcome.OK).count();
	}

	private boolean isDone() {
		return (this.instances == 0) ? this.pending.isEmpty()
				: handled() >= this.instances || this.pending.isEmpty() && this.replies.size() >= this.instances;
	}

	private SignalResult result() {
		Map<MemberId, String> failed = new TreeMap<>();
		this.replies.forEach((session, reply) -> {
			if (reply.outcome() == Outcome.FAILED) {
				failed.put(session, reply.message());
			}
		});
		boolean complete = (this.instances == 0) ? this.pending.isEmpty() && failed.isEmpty()
				: handled() >= this.instances;
		return new SignalResult(complete,
				this.replies.keySet().stream().filter((session) -> !failed.containsKey(session)).toList(), failed,
				new ArrayList<>(this.pending), new ArrayList<>(this.gone));
	}

}
