package io.github.shardkeeper.cluster.lock;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.NoSessionException;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.LockLostException;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.ClusterTool;
import io.github.shardkeeper.cluster.session.ReleaseQueue;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The locks of this instance. Each acquisition has a ticket of its own, so that a
 * repeated question gets the same reply, and a late reply to an abandoned one is
 * recognized. Thread-safe.
 */
public final class StoredLocks implements ClusterLocks, ClusterTool {

	private static final Logger logger = PrintableLogger.of(StoredLocks.class);

	/**
	 * Longer than a closed connection sends what was written to it (Linux: 2 minutes).
	 */
	private static final Duration LATEST_COMMAND = Duration.ofMinutes(5);

	/** Practically for ever, and still a number of nanoseconds. */
	private static final Duration LONGEST_TIME = Duration.ofDays(36_500);

	private final ClusterSession session;

	private final LockStore store;

	private final AtomicLong tickets = new AtomicLong();

	private final Map<Holder, Hold> holds = new ConcurrentHashMap<>();

	/** By ticket. */
	private final Map<String, LockRequest> requests = new ConcurrentHashMap<>();

	private final ReleaseQueue<Ticket> releases;

	/** Whether the store may have lost what it has answered. */
	private volatile boolean doubtful;

	/**
	 * The session that may hold locks for tickets that were given up: a question that was
	 * not answered may arrive late, and a failover may lose a release.
	 */
	private volatile @Nullable MemberId holdsUnknownIn;

	private volatile MonotonicTime holdsUnknownUntil;

	/** Creates the tool and adds it to the session. */
	public StoredLocks(ClusterSession session, LockStore store) {
		this.session = session;
		this.store = store;
		this.releases = new ReleaseQueue<>(session, Ticket::session, this::release);
		this.holdsUnknownUntil = session.clock().now();
		session.add(this);
	}

	@Override
	public ClusterLock get(String name, Duration atLeast, Duration atMost) {
		Objects.requireNonNull(name, "name must not be null");
		Objects.requireNonNull(atLeast, "atLeast must not be null");
		Objects.requireNonNull(atMost, "atMost must not be null");
		if (!Names.isValid(name)) {
			throw new IllegalArgumentException("The name '" + name + "' of a lock is not valid. " + Names.RULE);
		}
		if (atLeast.isNegative() || atMost.isNegative()) {
			throw new IllegalArgumentException(
					"The lock '%s' is to be held for at least %s and at most %s: use times that are not negative"
						.formatted(name, atLeast, atMost));
		}
		if (!atMost.isZero() && atLeast.compareTo(atMost) > 0) {
			throw new IllegalArgumentException(
					"The lock '%s' is to be held for at least %s but at most %s: use a shorter 'atLeast'"
						.formatted(name, atLeast, atMost));
		}
		return new StoredLock(name, wholeMillis(atLeast), wholeMillis(atMost));
	}

	/** Stores count in milliseconds; a time is not to become none. */
	private static Duration wholeMillis(Duration time) {
		if (time.compareTo(LONGEST_TIME) > 0) {
			return LONGEST_TIME;
		}
		return time.plusNanos(999_999).truncatedTo(ChronoUnit.MILLIS);
	}

	/** Returns a request that the store can tell about; {@link #end} it. */
	LockRequest begin(String name, Duration atLeast, Duration atMost, boolean waits, Runnable wakeUp) {
		String ticket = this.session.address() + "." + this.tickets.incrementAndGet();
		LockRequest request = new LockRequest(this.session, this.store, name, ticket, atLeast, atMost, waits, wakeUp,
				this::unanswered);
		this.requests.put(ticket, request);
		return request;
	}

	private void unanswered() {
		this.holdsUnknownUntil = this.session.clock().now().plus(LATEST_COMMAND);
		this.holdsUnknownIn = this.session.memberWithOrWithoutLease();
	}

	/** Ends a request; gives the lock back if it was not acquired for the caller. */
	void end(LockRequest request, boolean acquired) {
		this.requests.remove(request.ticket());
		MemberId askedAs = request.askedAs();
		if (!acquired && askedAs != null) {
			this.releases.release(new Ticket(askedAs, request.lock(), request.ticket()));
		}
	}

	private void release(Ticket ticket) {
		try {
			this.store.release(ticket.session(), ticket.lock(), ticket.ticket());
		}
		catch (StoreUnavailableException ex) {
			unanswered();
			throw ex;
		}
	}

	/** Notes that a thread holds a lock. */
	void acquired(Hold hold, Thread holder) {
		this.holds.put(new Holder(hold.lock, holder), hold);
		if (hold.endsAt != null) {
			this.session.wake();
		}
		if (isLost(hold)) {
			// The session has ended since, and did not know of it.
			lose(hold);
		}
	}

	/** Releases a lock. Returns whether it was lost before. */
	boolean released(Hold hold, Thread holder) {
		this.holds.remove(new Holder(hold.lock, holder));
		boolean lost = isLost(hold);
		this.releases.release(new Ticket(hold.session, hold.lock, hold.ticket));
		return lost;
	}

	/** Whether a hold is certain now. */
	boolean isHeld(Hold hold) {
		return !hold.isLost() && this.session.isHeld(hold.session) && !hold.hasEnded(this.session.clock().now());
	}

	private boolean isLost(Hold hold) {
		return hold.isLost() || !this.session.continues(hold.session) || hold.hasEnded(this.session.clock().now());
	}

	private void lose(Hold hold) {
		Runnable listener = hold.lose();
		if (listener != null) {
			runListener(hold.lock, listener);
		}
	}

	private void runListener(String lock, Runnable listener) {
		this.session.callbacks().execute(() -> {
			try {
				listener.run();
			}
			catch (Throwable ex) {
				logger.error("The listener to the loss of the lock '{}' has failed", lock, ex);
			}
		});
	}

	@Override
	public void message(String kind, String text) {
		if (!kind.equals("lock") && !kind.equals("lockfree")) {
			return;
		}
		String[] fields = text.split("\\|", -1);
		LockRequest request = this.requests.get(fields[1]);
		if (request == null) {
			if (kind.equals("lock")) {
				releaseIfUnknown(new Ticket(new MemberId(fields[3]), fields[0], fields[1]));
			}
			return;
		}
		if (kind.equals("lock")) {
			request.granted(new MemberId(fields[3]), new Token(Long.parseLong(fields[2])));
		}
		else {
			request.freeIn(Duration.ofMillis(Long.parseLong(fields[2]) + 1));
		}
	}

	/** Releases a ticket that holds a lock, later: nobody here knows it any more. */
	private void releaseIfUnknown(Ticket ticket) {
		if (!this.requests.containsKey(ticket.ticket())
				&& this.holds.values().stream().noneMatch((hold) -> hold.ticket.equals(ticket.ticket()))) {
			this.releases.releaseLater(ticket);
		}
	}

	@Override
	public void catchUpRefused() {
		this.requests.values().forEach(LockRequest::askAgain);
	}

	@Override
	public void writesMayBeLost() {
		this.doubtful = true;
		// Also a release may be lost: its ticket holds the lock again.
		unanswered();
	}

	@Override
	public void sessionChanged() {
		loseEnded();
		this.requests.values().forEach(LockRequest::wake);
	}

	private void loseEnded() {
		this.holds.values().stream().filter(this::isLost).forEach(this::lose);
	}

	@Override
	public @Nullable MonotonicTime wakeAt() {
		return this.holds.values()
			.stream()
			.filter((hold) -> !hold.isLost() && hold.endsAt != null)
			.map((hold) -> Objects.requireNonNull(hold.endsAt))
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	@Override
	public void due() {
		loseEnded();
	}

	@Override
	public void catchUp(MemberId member, ViewStore.Reply reply) {
		loseEnded();
		// In a new session those that wait have to ask again.
		this.requests.values()
			.stream()
			.filter((request) -> !member.equals(request.askedAs()))
			.forEach(LockRequest::wake);
		this.releases.repeat();
		// Cleared before the question: a doubt that comes meanwhile stays.
		boolean verify = this.doubtful;
		this.doubtful = false;
		try {
			compareHolds(member, verify);
		}
		catch (StoreUnavailableException ex) {
			this.doubtful |= verify;
			throw ex;
		}
		if (verify) {
			this.requests.values().forEach(LockRequest::askAgain);
		}
		else {
			// A message may have been lost: one question for all that wait.
			Map<String, String> waiting = new HashMap<>();
			this.requests.values()
				.stream()
				.filter((request) -> request.waitsIn(member))
				.forEach((request) -> waiting.put(request.ticket(), request.lock()));
			if (!waiting.isEmpty()) {
				this.store.check(waiting).forEach((ticket) -> {
					LockRequest request = this.requests.get(ticket);
					if (request != null) {
						request.askAgain();
					}
				});
			}
		}
	}

	/**
	 * Compares the locks of this session with what the store knows of it, where they may
	 * differ.
	 * @param verify whether the store may have lost locks
	 */
	private void compareHolds(MemberId member, boolean verify) {
		List<Hold> toVerify = verify
				? this.holds.values().stream().filter((hold) -> member.equals(hold.session) && !hold.isLost()).toList()
				: List.of();
		boolean mayHoldUnknown = member.equals(this.holdsUnknownIn)
				&& this.session.clock().now().isBefore(this.holdsUnknownUntil);
		if (toVerify.isEmpty() && !mayHoldUnknown) {
			return;
		}
		Map<String, String> known = this.store.held(member);
		for (Hold hold : toVerify) {
			// One that was released meanwhile is not lost.
			if (!hold.ticket.equals(known.get(hold.lock)) && this.holds.containsValue(hold)) {
				logger.warn("The store has lost the lock '{}' of {}", hold.lock, hold.session);
				lose(hold);
			}
		}
		if (mayHoldUnknown) {
			known.forEach((lock, ticket) -> releaseIfUnknown(new Ticket(member, lock, ticket)));
		}
	}

	/** A lock and a thread. Compared by the thread's identity. */
	private record Holder(String lock, Thread thread) {

	}

	/** A ticket that is not needed any more, and the session in which it was asked. */
	private record Ticket(MemberId session, String lock, String ticket) {

	}

	/** A lock of the application; its state is that of its name. */
	private final class StoredLock implements ClusterLock {

		private final String name;

		private final Duration atLeast;

		private final Duration atMost;

		StoredLock(String name, Duration atLeast, Duration atMost) {
			this.name = name;
			this.atLeast = atLeast;
			this.atMost = atMost;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public void lock() {
			boolean interrupted = false;
			try {
				while (true) {
					try {
						acquire(null);
						return;
					}
					catch (InterruptedException ex) {
						// Begins again behind the others: an interrupted thread that goes
						// on waiting is rare.
						interrupted = true;
					}
				}
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

		@Override
		public void lockInterruptibly() throws InterruptedException {
			acquire(null);
		}

		@Override
		public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
			Objects.requireNonNull(unit, "unit must not be null");
			return acquire(StoredLocks.this.session.clock()
				.now()
				.plus(Duration.ofNanos(Math.min(unit.toNanos(Math.max(time, 0)), Long.MAX_VALUE / 4))));
		}

		@Override
		public boolean tryLock() {
			if (reenter()) {
				return true;
			}
			LockRequest request = begin(this.name, this.atLeast, this.atMost, false, () -> {
			});
			Hold hold = null;
			try {
				hold = request.attempt();
				if (hold == null && request.isWithoutSession()) {
					throw new NoSessionException(
							"This instance has no session in group '%s', so it cannot acquire the lock '%s' now"
								.formatted(StoredLocks.this.session.group(), this.name));
				}
				return acquired(hold);
			}
			finally {
				if (hold != null || request.isDoubtful()) {
					end(request, hold != null);
				}
				else {
					// It was not granted and does not wait.
					StoredLocks.this.requests.remove(request.ticket());
				}
			}
		}

		private boolean acquired(@Nullable Hold hold) {
			if (hold == null) {
				return false;
			}
			StoredLocks.this.acquired(hold, Thread.currentThread());
			return true;
		}

		/** Waits until a time, or for ever. */
		private boolean acquire(@Nullable MonotonicTime deadline) throws InterruptedException {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			if (reenter()) {
				return true;
			}
			Thread waiting = Thread.currentThread();
			LockRequest request = begin(this.name, this.atLeast, this.atMost, true, () -> LockSupport.unpark(waiting));
			Hold hold = null;
			try {
				hold = request.await(deadline);
				return acquired(hold);
			}
			finally {
				end(request, hold != null);
			}
		}

		private boolean reenter() {
			Hold hold = hold();
			if (hold == null) {
				return false;
			}
			if (isLost(hold)) {
				throw lost("Unlock it before you acquire it again");
			}
			hold.depth++;
			return true;
		}

		private @Nullable Hold hold() {
			return StoredLocks.this.holds.get(new Holder(this.name, Thread.currentThread()));
		}

		private Hold requireHold() {
			Hold hold = hold();
			if (hold == null) {
				throw new IllegalMonitorStateException(
						"This thread has not acquired the lock '" + this.name + "', or has unlocked it already");
			}
			return hold;
		}

		private LockLostException lost(String advice) {
			return new LockLostException(("The lock '%s' was lost while this thread held it: the session has ended, "
					+ "the time for which it may be held has passed, or the store has lost it. %s")
				.formatted(this.name, advice));
		}

		@Override
		public void unlock() {
			Hold hold = requireHold();
			hold.depth--;
			if (hold.depth > 0) {
				return;
			}
			if (released(hold, Thread.currentThread())) {
				throw lost("Another holder may have worked at the same time");
			}
		}

		@Override
		public boolean isHeld() {
			Hold hold = hold();
			return hold != null && StoredLocks.this.isHeld(hold);
		}

		@Override
		public Token token() {
			return requireHold().token;
		}

		@Override
		public void onLoss(Runnable listener) {
			Objects.requireNonNull(listener, "listener must not be null");
			Hold hold = requireHold();
			Runnable runNow = hold.onLoss(listener);
			if (runNow != null) {
				runListener(this.name, runNow);
			}
		}

		@Override
		public String toString() {
			return "lock '" + this.name + "' of group '" + StoredLocks.this.session.group() + "'";
		}

	}

}
