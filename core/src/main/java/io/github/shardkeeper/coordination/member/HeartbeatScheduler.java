package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.time.StoreClock;

/**
 * Sends the heartbeats of a session: one per interval, one at once after a notification,
 * and one exactly when the leader's lease ends, so that a dead leader is replaced without
 * delay. Each reply renews the {@link Lease} before it is processed further. Heartbeats
 * and the {@link LeaseGuard} have loops of their own that nothing else can delay.
 * Thread-safe.
 */
public final class HeartbeatScheduler implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(HeartbeatScheduler.class);

	private final CoordinationStore store;

	private final Lease lease;

	private final Duration interval;

	private final MonotonicClock clock;

	/** Confined to the loop. */
	private final StoreClock storeClock;

	private final MemberRuntime runtime;

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable Session session;

	private boolean beatRequested;

	private MonotonicTime nextBeat;

	private @Nullable Listener listener;

	private @Nullable LeaseGuard guard;

	private volatile Loops.@Nullable Loop loop;

	/** Guarded, because it may be of the application. */
	private volatile @Nullable MeterGuard<Consumer<Duration>> latency;

	/** Creates a scheduler that is not started. */
	public HeartbeatScheduler(CoordinationStore store, Lease lease, Duration interval, MemberRuntime runtime) {
		this.store = store;
		this.lease = lease;
		this.interval = interval;
		this.runtime = runtime;
		this.clock = runtime.clock();
		this.storeClock = new StoreClock(lease.margin());
		this.nextBeat = this.clock.now();
	}

	/**
	 * Sets who receives the time from each heartbeat to its reply, on the thread of the
	 * heartbeats; must not block.
	 */
	public void onReply(Consumer<Duration> listener) {
		this.latency = new MeterGuard<>(listener,
				(failure) -> logger.warn("Heartbeats cannot be timed; they continue. Logged once", failure));
	}

	/** Starts the loops; no heartbeat is sent before a session begins. */
	public void start(Listener listener) {
		this.listener = listener;
		this.guard = new LeaseGuard(this.lease, this.runtime, () -> leaseEnded(listener));
		this.loop = this.runtime.loops().start("shardkeeper-heartbeat", this::step);
	}

	/**
	 * Starts the heartbeats of a session.
	 * @param unconfirmed whether the lease is renewed only after {@link #confirmed(int)}
	 * was called for one loss of writes
	 */
	void beginSession(MemberId member, boolean unconfirmed, BooleanSupplier candidate) {
		signal(() -> {
			this.session = new Session(member, unconfirmed, candidate);
			this.beatRequested = true;
		});
	}

	/** Ends heartbeats and lease at once, without a call of the store. */
	public void endSession() {
		signal(() -> this.session = null);
		endLease();
	}

	/** Sends a heartbeat now. Several requests before it is sent are one. */
	public void beatNow() {
		signal(() -> this.beatRequested = true);
	}

	/** Requests all shards of the member with the next heartbeat: changes were lost. */
	void requestAllChanges() {
		signal(() -> {
			if (this.session != null) {
				this.session.forget();
			}
			this.beatRequested = true;
		});
	}

	/**
	 * Has the store confirm its replies: the next heartbeat carries the last seen
	 * generation, by which the store notices a loss, and the one after it requests all
	 * shards.
	 */
	void confirmSeen() {
		signal(() -> {
			if (this.session != null) {
				this.session.confirmSeen();
			}
			this.beatRequested = true;
		});
	}

	/** Adds a load report to the next regular heartbeats, until one is answered. */
	void report(LoadReport load) {
		this.lock.lock();
		try {
			if (this.session != null) {
				this.session.load(load);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Lets replies renew the lease again: the store has confirmed the shards after so
	 * many losses of writes in this session.
	 */
	void confirmed(int losses) {
		signal(() -> {
			if (this.session != null) {
				this.session.confirmed(losses);
			}
			this.beatRequested = true;
		});
	}

	private void signal(Runnable change) {
		this.lock.lock();
		try {
			change.run();
		}
		finally {
			this.lock.unlock();
		}
		Loops.Loop running = this.loop;
		if (running != null) {
			running.wake();
		}
	}

	private @Nullable MonotonicTime step() {
		Session due = takeDue();
		if (due != null) {
			beat(due);
		}
		this.lock.lock();
		try {
			if (this.session == null) {
				return null;
			}
			return this.beatRequested ? this.clock.now() : this.nextBeat;
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable Session takeDue() {
		this.lock.lock();
		try {
			MonotonicTime now = this.clock.now();
			if (this.session == null || !this.beatRequested && now.isBefore(this.nextBeat)) {
				return null;
			}
			this.beatRequested = false;
			this.nextBeat = now.plus(this.interval);
			return this.session;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void beat(Session beating) {
		boolean seenUnconfirmed = beating.takeSeenUnconfirmed();
		try {
			beat(beating, seenUnconfirmed);
		}
		catch (Throwable ex) {
			if (seenUnconfirmed) {
				beating.confirmSeen();
			}
			throw ex;
		}
	}

	private void beat(Session beating, boolean seenUnconfirmed) {
		Listener hears = Objects.requireNonNull(this.listener);
		MonotonicTime sentAt = this.clock.now();
		HeartbeatReply reply;
		int forgetRequests = beating.forgetRequests();
		LoadReport load = beating.load();
		// Steps of the clock that are smaller than the lease's margin do not count.
		long earliestMillis = Math.max(0,
				this.storeClock.earliestMillis(sentAt) - this.storeClock.tolerance().toMillis());
		try {
			reply = this.store.heartbeat(beating.member(),
					beating.toTell(seenUnconfirmed, forgetRequests).withClock(earliestMillis), beating.isCandidate(),
					load);
		}
		catch (StoreUnavailableException ex) {
			// A failover may have lost writes that were answered, such as a release.
			beating.confirmSeen();
			hears.heartbeatFailed(beating.member(), ex);
			return;
		}
		if (reply instanceof HeartbeatReply.Alive alive) {
			this.storeClock.answered(sentAt, alive.serverTimeMillis(), this.clock.now());
			reported(beating, load);
			Duration took = sentAt.until(this.clock.now());
			answered(beating, alive, sentAt, hears);
			if (seenUnconfirmed) {
				// This reply only confirmed; the next one contains everything.
				requestAllChanges();
			}
			else {
				beating.forgotten(forgetRequests);
			}
			// Last: the lease is renewed.
			MeterGuard<Consumer<Duration>> timer = this.latency;
			if (timer != null) {
				timer.count((times) -> times.accept(took));
			}
		}
		else {
			// The lease continues: if it has not ended, the store was emptied, and the
			// member may still claim its shards.
			signal(() -> this.session = (this.session == beating) ? null : this.session);
			hears.sessionExpired(beating.member());
		}
	}

	private void reported(Session beating, LoadReport load) {
		this.lock.lock();
		try {
			beating.reported(load);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void answered(Session beating, HeartbeatReply.Alive alive, MonotonicTime sentAt, Listener hears) {
		if (alive.lost()) {
			beating.lostWrites();
		}
		if (beating.isConfirmed() ? renewLease(beating, sentAt, hears) : isCurrent(beating)) {
			beating.heard(alive);
			scheduleNext(alive);
			hears.heartbeatAnswered(beating.member(), alive, sentAt);
		}
	}

	private boolean isCurrent(Session beating) {
		this.lock.lock();
		try {
			return this.session == beating;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Renews the lease, but not for a session that was ended meanwhile. */
	private boolean renewLease(Session beating, MonotonicTime sentAt, Listener hears) {
		boolean pausedMeanwhile;
		this.lock.lock();
		try {
			if (this.session != beating) {
				return false;
			}
			boolean ended = this.lease.isEnded();
			MonotonicTime handedOutUntil = this.lease.lastHandOutAt();
			this.lease.renew(sentAt, this.clock.now());
			// Read the clock after the renewal: a worker that saw handing out paused has
			// read it before.
			pausedMeanwhile = ended || !this.clock.now().isBefore(handedOutUntil);
		}
		finally {
			this.lock.unlock();
		}
		if (pausedMeanwhile) {
			if (this.guard != null) {
				this.guard.leaseChanged();
			}
			hears.handOutResumed();
		}
		return true;
	}

	/** Reports only a lease that ran out: a new session may hold it again by now. */
	private void leaseEnded(Listener hears) {
		if (!this.lease.isEnded() && !this.lease.isHeld(this.clock.now())) {
			hears.leaseEnded();
		}
	}

	private void endLease() {
		this.lease.end();
		if (this.guard != null) {
			this.guard.leaseChanged();
		}
	}

	private void scheduleNext(HeartbeatReply.Alive alive) {
		if (alive.hasMore()) {
			beatNow();
			return;
		}
		long leaderHasMillis = alive.leaderLeaseEndMillis() - alive.serverTimeMillis();
		if (leaderHasMillis > 0 && leaderHasMillis < this.interval.toMillis()) {
			MonotonicTime election = this.clock.now().plus(Duration.ofMillis(leaderHasMillis + 1));
			signal(() -> this.nextBeat = MonotonicTime.earliest(this.nextBeat, election));
		}
	}

	@Override
	public void close() {
		if (this.loop != null) {
			this.loop.close();
		}
		if (this.guard != null) {
			this.guard.close();
		}
	}

	/**
	 * One session's heartbeats. Requests are written under the scheduler's lock;
	 * everything else is confined to its loop.
	 */
	private static final class Session {

		private final MemberId member;

		private final BooleanSupplier candidate;

		private volatile LoadReport load = LoadReport.NONE;

		/** Number of requests for all shards. */
		private volatile int forgetRequests;

		/** Whether the store may have lost writes that it has answered. */
		private volatile boolean seenUnconfirmed;

		private volatile int lossesConfirmed;

		/** Confined to the loop, as is all below. */
		private int losses;

		private int forgetRequestsAnswered;

		/** Position from which the next reply continues. */
		private Seen seen = Seen.NOTHING;

		private long longestLeaseMillis;

		/** Newest position; above {@link #seen} while all shards are read again. */
		private Seen mostSeen = Seen.NOTHING;

		Session(MemberId member, boolean unconfirmed, BooleanSupplier candidate) {
			this.member = member;
			this.losses = unconfirmed ? 1 : 0;
			this.candidate = candidate;
		}

		MemberId member() {
			return this.member;
		}

		boolean isCandidate() {
			return this.candidate.getAsBoolean();
		}

		LoadReport load() {
			return this.load;
		}

		void load(LoadReport newer) {
			this.load = newer;
		}

		/** Drops a report that has arrived, unless there is a newer one. */
		void reported(LoadReport arrived) {
			if (this.load.equals(arrived)) {
				this.load = LoadReport.NONE;
			}
		}

		/** Requests all shards with the next heartbeat that does not confirm. */
		void forget() {
			this.forgetRequests++;
		}

		int forgetRequests() {
			return this.forgetRequests;
		}

		void forgotten(int requests) {
			this.forgetRequestsAnswered = requests;
		}

		/** Has the next heartbeat carry the newest position. */
		void confirmSeen() {
			this.seenUnconfirmed = true;
		}

		boolean takeSeenUnconfirmed() {
			if (!this.seenUnconfirmed) {
				// Must not write the field: another thread may be setting it.
				return false;
			}
			this.seenUnconfirmed = false;
			return true;
		}

		void confirmed(int losses) {
			this.lossesConfirmed = losses;
		}

		boolean isConfirmed() {
			return this.losses == this.lossesConfirmed;
		}

		/**
		 * {@return the position to send} Changes no state before the reply: if the
		 * heartbeat fails because of a failover, only the newest position shows whether
		 * that has lost writes.
		 */
		Seen toTell(boolean seenUnconfirmed, int forgetRequests) {
			return toSay(seenUnconfirmed, forgetRequests).withLongestLease(this.longestLeaseMillis);
		}

		private Seen toSay(boolean seenUnconfirmed, int forgetRequests) {
			if (seenUnconfirmed) {
				return this.mostSeen;
			}
			return (forgetRequests != this.forgetRequestsAnswered) ? new Seen(this.seen.history(), 0) : this.seen;
		}

		void lostWrites() {
			this.losses++;
		}

		void heard(HeartbeatReply.Alive alive) {
			Seen now = alive.seen();
			this.longestLeaseMillis = alive.longestLeaseMillis();
			if (now.history() != this.mostSeen.history() || now.generation() > this.mostSeen.generation()) {
				this.mostSeen = now;
			}
			// A store that has returned everything, and less than was seen, has lost
			// writes: the next heartbeat lets it notice.
			this.seen = alive.hasMore() ? now : this.mostSeen;
		}

	}

	/** Must not block. */
	public interface Listener {

		void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt);

		void heartbeatFailed(MemberId member, StoreUnavailableException failure);

		/** The store does not know the session; heartbeats stop, the lease continues. */
		void sessionExpired(MemberId member);

		/** The lease has ended; the session may continue. */
		void leaseEnded();

		/** The lease permits handing out records again. */
		void handOutResumed();

	}

}
