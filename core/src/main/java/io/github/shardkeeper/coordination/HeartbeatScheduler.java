package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.time.StoreClock;

/**
 * Keeps the member's session alive: one heartbeat per interval, one more at once whenever
 * the store signals news, and one exactly when the leader's lease ends, so that a dead
 * leader is replaced without delay. Each answer renews the {@link Lease} before anything
 * else happens to it.
 * <p>
 * It has a loop of its own that nothing else can delay, and so has the watch over the end
 * of the lease. Thread-safe.
 */
public final class HeartbeatScheduler implements AutoCloseable {

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

	/**
	 * Creates a scheduler that is not started.
	 * @param store the store to send heartbeats to
	 * @param lease the lease that they renew
	 * @param interval the time between two of them
	 * @param runtime clock and loops
	 */
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
	 * Starts the loops; no heartbeat is sent before a session begins.
	 * @param listener hears the answers, on the heartbeat's own loop
	 */
	void start(Listener listener) {
		this.listener = listener;
		this.guard = new LeaseGuard(this.lease, this.runtime, () -> leaseEnded(listener));
		this.loop = this.runtime.loops().start("shardkeeper-heartbeat", this::step);
	}

	/**
	 * Begins to beat.
	 * @param unconfirmed whether the lease is not renewed before
	 * {@linkplain #confirmed(int) one loss of writes is confirmed}
	 */
	void beginSession(MemberId member, boolean unconfirmed, BooleanSupplier candidate) {
		signal(() -> {
			this.session = new Session(member, unconfirmed, candidate);
			this.beatRequested = true;
		});
	}

	/** Ends heartbeats and lease at once; the store is not told. */
	void endSession() {
		signal(() -> this.session = null);
		endLease();
	}

	/**
	 * Sends a heartbeat now. Several requests before it is sent make one.
	 */
	public void beatNow() {
		signal(() -> this.beatRequested = true);
	}

	/**
	 * Has the next heartbeat tell everything anew that the member owns, because news were
	 * lost on the way.
	 */
	void requestAllChanges() {
		signal(() -> {
			if (this.session != null) {
				this.session.forget();
			}
			this.beatRequested = true;
		});
	}

	/**
	 * Has the store confirm what it has answered, because it may have lost that and
	 * nobody has noticed: the next heartbeat says what was seen, so that the store
	 * notices a loss, and the one after it has everything told anew.
	 */
	void confirmSeen() {
		signal(() -> {
			if (this.session != null) {
				this.session.confirmSeen();
			}
			this.beatRequested = true;
		});
	}

	/**
	 * Has the next heartbeat that is due anyway take a load report along, and those after
	 * it until one is answered.
	 */
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
	 * Lets answers renew the lease again: the store has confirmed what the member holds
	 * after that many losses of writes.
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

	/** Returns the session to beat for now, or {@code null}. */
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
		// A step that the margin bears is none.
		long earliestMillis = Math.max(0,
				this.storeClock.earliestMillis(sentAt) - this.storeClock.tolerance().toMillis());
		try {
			reply = this.store.heartbeat(beating.member(),
					beating.toTell(seenUnconfirmed, forgetRequests).withClock(earliestMillis), beating.isCandidate(),
					load);
		}
		catch (StoreUnavailableException ex) {
			// Perhaps there was a failover, and it lost what was answered, but told
			// nobody: a release.
			beating.confirmSeen();
			hears.heartbeatFailed(beating.member(), ex);
			return;
		}
		if (reply instanceof HeartbeatReply.Alive alive) {
			this.storeClock.answered(sentAt, alive.serverTimeMillis(), this.clock.now());
			reported(beating, load);
			answered(beating, alive, sentAt, hears);
			if (seenUnconfirmed) {
				// This was still an answer to what was seen, or the store would not have
				// noticed its loss; the next one tells everything.
				requestAllChanges();
			}
			else {
				beating.forgotten(forgetRequests);
			}
		}
		else {
			// The lease goes on: if it has not ended, the store was emptied, and the
			// member may still claim what it holds.
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
			this.lease.renew(sentAt);
			// In this order: whoever found handing out over has looked before this
			// moment.
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

	/**
	 * Reports only a lease that ran out. The end of a session is reported elsewhere, and
	 * a new session may hold the lease again by now.
	 */
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
	 * What the heartbeats of one session tell, and what was heard. Wishes are written
	 * under the scheduler's lock; the rest is confined to its loop.
	 */
	private static final class Session {

		private final MemberId member;

		private final BooleanSupplier candidate;

		/** The report that was not answered yet. */
		private volatile LoadReport load = LoadReport.NONE;

		/** Number of requests to have everything told anew. */
		private volatile int forgetRequests;

		/** The store may have lost what it has answered: what was seen is unconfirmed. */
		private volatile boolean seenUnconfirmed;

		/** Number of losses after which the store has confirmed what is held. */
		private volatile int lossesConfirmed;

		/** Confined to the loop, as is all below. */
		private int losses;

		private int forgetRequestsAnswered;

		/** Position from which the next answer continues. */
		private Seen seen = Seen.NOTHING;

		/** Longest lease in the group, as it was told last. */
		private long longestLeaseMillis;

		/** More than that while everything is told again, page by page. */
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

		/** Drops a report that has arrived, if there is no newer one by now. */
		void reported(LoadReport arrived) {
			if (this.load.equals(arrived)) {
				this.load = LoadReport.NONE;
			}
		}

		/** Has everything told anew by the next heartbeat that does not confirm. */
		void forget() {
			this.forgetRequests++;
		}

		int forgetRequests() {
			return this.forgetRequests;
		}

		void forgotten(int requests) {
			this.forgetRequestsAnswered = requests;
		}

		/** Has the next heartbeat tell all that was seen. */
		void confirmSeen() {
			this.seenUnconfirmed = true;
		}

		boolean takeSeenUnconfirmed() {
			if (!this.seenUnconfirmed) {
				// Nothing is written: another thread may set it just now.
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
		 * Returns what a heartbeat says was seen. Nothing of it is kept before it is
		 * answered: if it fails because of a failover, only what was seen tells whether
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
			// A store that has told all, and less than was seen, has lost writes: the
			// next
			// heartbeat has it notice.
			this.seen = alive.hasMore() ? now : this.mostSeen;
		}

	}

	/** Hears what came of heartbeats; must not block. */
	interface Listener {

		void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt);

		void heartbeatFailed(MemberId member, StoreUnavailableException failure);

		/** No heartbeats are sent any more; the lease was not ended. */
		void sessionExpired(MemberId member);

		/** The lease has ended, though the session may go on. */
		void leaseEnded();

		/** Records were not handed out for a while, and may be again. */
		void handOutResumed();

	}

}
