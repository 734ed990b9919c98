package io.github.shardkeeper.cluster.barrier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.ViewChangedException;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Broken;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Busy;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Entered;
import io.github.shardkeeper.cluster.barrier.BarrierStore.OtherParties;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Over;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Paused;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Reply;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Request;
import io.github.shardkeeper.cluster.barrier.BarrierStore.ViewChanged;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Waiting;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.ClusterTool;
import io.github.shardkeeper.cluster.session.ReleaseQueue;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The double barriers of this instance, which is in each of them at most once. Each time
 * that it enters has a ticket of its own, so that a repeated question gets the same
 * reply. Thread-safe.
 */
public final class StoredBarriers implements DoubleBarriers, ClusterTool {

	private static final Logger logger = PrintableLogger.of(StoredBarriers.class);

	/** The last writes that a failover can lose are a few seconds old. */
	private static final Duration REMEMBERED = Duration.ofMinutes(1);

	/** Each is repeated after a failover. */
	private static final int MOST_REMEMBERED = 100;

	private static final Duration LONGEST_WAIT = Duration.ofNanos(Long.MAX_VALUE / 4);

	private final ClusterSession session;

	private final BarrierStore store;

	private final AtomicLong tickets = new AtomicLong();

	/** By the name of the barrier. */
	private final Map<String, Participation> participations = new ConcurrentHashMap<>();

	private final ReleaseQueue<Departure> departures;

	/** What the store knows, but may lose. */
	private final Queue<Departure> told = new ConcurrentLinkedQueue<>();

	/** Whether the store may have lost what it has answered. */
	private volatile boolean doubtful;

	/** Creates the tool and adds it to the session. */
	public StoredBarriers(ClusterSession session, BarrierStore store) {
		this.session = session;
		this.store = store;
		this.departures = new ReleaseQueue<>(session, Departure::session, this::tell);
		session.add(this);
	}

	@Override
	public DoubleBarrier get(String name) {
		Objects.requireNonNull(name, "name must not be null");
		if (!Names.isValid(name)) {
			throw new IllegalArgumentException("The name '" + name + "' of a barrier is not valid. " + Names.RULE);
		}
		return new StoredBarrier(name);
	}

	/**
	 * Begins to enter a barrier; {@link #end} it unless it is entered.
	 * @throws IllegalStateException if this instance is in the barrier
	 */
	Participation begin(String name) {
		Participation begun = new Participation(name, this.session.address() + "." + this.tickets.incrementAndGet());
		Participation present = this.participations.putIfAbsent(name, begun);
		if (present != null) {
			throw new IllegalStateException((present.round() == null)
					? "This instance waits at the barrier '%s' already: only one of its threads can enter it"
						.formatted(name)
					: "This instance has entered the barrier '%s' already: leave it before you enter it again"
						.formatted(name));
		}
		return begun;
	}

	/**
	 * Returns the request to enter.
	 * @param view the number of the view; 0 for none
	 * @param askAs the session in which to enter; {@code null} for the current one
	 */
	BarrierRequest entering(Participation participation, int parties, long view, @Nullable MemberId askAs,
			Runnable wakeUp) {
		BarrierRequest request = new BarrierRequest(this.session, "enter", participation.barrier, askAs, view,
				(member) -> {
					// Else the store would take it for one that starts over without
					// having
					// left, and break the last round.
					this.departures.repeat((departure) -> departure.barrier().equals(participation.barrier));
					return this.store
						.enter(new Request(member, participation.barrier, participation.ticket, parties, view));
				}, wakeUp);
		participation.request = request;
		return request;
	}

	/** Returns the request to leave. */
	BarrierRequest leaving(Participation participation, Entry entry, Runnable wakeUp) {
		Function<MemberId, Reply> question = (member) -> this.store.leave(member, participation.barrier,
				participation.ticket, entry.round());
		BarrierRequest request = new BarrierRequest(this.session, "leave", participation.barrier, entry.session(), 0,
				question, wakeUp);
		participation.request = request;
		return request;
	}

	/** Ends a participation: this instance may enter again. */
	void end(Participation participation) {
		this.participations.remove(participation.barrier, participation);
	}

	/**
	 * Gives up waiting to enter.
	 * @return the round, if all are in
	 */
	@Nullable Entry withdraw(Participation participation, BarrierRequest request) {
		MemberId askedAs = request.askedAs();
		if (askedAs == null || !this.session.continues(askedAs)) {
			// The store does not know it, or removes it with the session.
			return null;
		}
		Departure departure = new Departure(askedAs, participation.barrier, participation.ticket, 0, now());
		try {
			if (this.store.withdraw(askedAs, participation.barrier, participation.ticket,
					false) instanceof Entered entered) {
				return new Entry(askedAs, entered.round());
			}
			remember(departure);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Cannot withdraw from the barrier '{}' yet", participation.barrier, ex);
			this.departures.releaseLater(departure);
		}
		return null;
	}

	/** Has the store told, now or later, that this instance has left a round. */
	void left(Participation participation, Entry entry, boolean known) {
		Departure departure = new Departure(entry.session(), participation.barrier, participation.ticket, entry.round(),
				now());
		if (known) {
			remember(departure);
		}
		else {
			this.departures.releaseLater(departure);
		}
	}

	/** Breaks a round that this instance has entered. */
	void abort(Participation participation, Entry entry) {
		this.departures.release(new Departure(entry.session(), participation.barrier, participation.ticket, 0, now()));
	}

	/** Returns the request that waits at a barrier now; {@code null} for none. */
	@Nullable BarrierRequest waiting(String name) {
		Participation participation = this.participations.get(name);
		return (participation != null) ? participation.request : null;
	}

	private MonotonicTime now() {
		return this.session.clock().now();
	}

	@Override
	public void message(String kind, String text) {
		if (!kind.equals("barrier")) {
			return;
		}
		int end = text.indexOf('|');
		Participation concerned = this.participations.get((end < 0) ? text : text.substring(0, end));
		if (concerned != null) {
			concerned.askAgain();
		}
	}

	@Override
	public void catchUpRefused() {
		this.participations.values().forEach(Participation::askAgain);
	}

	@Override
	public void writesMayBeLost() {
		this.doubtful = true;
	}

	@Override
	public void sessionChanged() {
		this.participations.values().forEach(Participation::wake);
	}

	@Override
	public void catchUp(MemberId member, ViewStore.Reply reply) {
		MonotonicTime longAgo = now().minus(REMEMBERED);
		this.told
			.removeIf((departure) -> departure.at().isBefore(longAgo) || !this.session.continues(departure.session()));
		if (this.doubtful) {
			this.doubtful = false;
			List<Departure> again = new ArrayList<>(this.told);
			this.told.removeAll(again);
			again.forEach(this.departures::releaseLater);
		}
		try {
			this.departures.repeat();
		}
		finally {
			// A message may have been lost: one question per barrier.
			this.participations.values().forEach(Participation::askAgain);
		}
	}

	private void remember(Departure departure) {
		this.told.add(departure);
		while (this.told.size() > MOST_REMEMBERED) {
			this.told.poll();
		}
	}

	private void tell(Departure departure) {
		if (departure.round() == 0) {
			this.store.withdraw(departure.session(), departure.barrier(), departure.ticket(), true);
		}
		else {
			this.store.leave(departure.session(), departure.barrier(), departure.ticket(), departure.round());
		}
		remember(departure);
	}

	/**
	 * That this instance is in no round under a ticket any more.
	 *
	 * @param round the number of the round that it has left; 0 if it has given up
	 */
	private record Departure(MemberId session, String barrier, String ticket, long round, MonotonicTime at) {

	}

	/**
	 * A round that this instance has entered.
	 *
	 * @param session its session then
	 * @param round the number of the round
	 */
	record Entry(MemberId session, long round) {

	}

	/** This instance in a barrier. Compared by identity. Thread-safe. */
	static final class Participation {

		private final String barrier;

		private final String ticket;

		/** Whether it is entered; set before others can see it. Guarded by this. */
		private @Nullable Entry entry;

		/** Guarded by this. */
		private boolean leaving;

		/** What waits now. */
		private volatile @Nullable BarrierRequest request;

		Participation(String barrier, String ticket) {
			this.barrier = barrier;
			this.ticket = ticket;
		}

		synchronized @Nullable Entry round() {
			return this.entry;
		}

		synchronized void entered(Entry entered) {
			this.entry = entered;
			this.request = null;
		}

		/** Returns the entry to leave; {@code null} if there is none, or it is left. */
		synchronized @Nullable Entry startLeaving() {
			if (this.leaving || this.entry == null) {
				return null;
			}
			this.leaving = true;
			return this.entry;
		}

		void askAgain() {
			BarrierRequest waiting = this.request;
			if (waiting != null) {
				waiting.askAgain();
			}
		}

		void wake() {
			BarrierRequest waiting = this.request;
			if (waiting != null) {
				waiting.wake();
			}
		}

	}

	/** A barrier of the application; its state is that of its name. */
	private final class StoredBarrier implements DoubleBarrier {

		private final String name;

		StoredBarrier(String name) {
			this.name = name;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public void enter(int parties, Duration timeout) throws InterruptedException, TimeoutException {
			Objects.requireNonNull(timeout, "timeout must not be null");
			if (parties < 1) {
				throw new IllegalArgumentException(
						"The barrier '%s' cannot have %d parties: use at least 1".formatted(this.name, parties));
			}
			enter(parties, 0, null, timeout);
		}

		@Override
		public void enter(ClusterView.View view, Duration timeout) throws InterruptedException, TimeoutException {
			Objects.requireNonNull(view, "view must not be null");
			Objects.requireNonNull(timeout, "timeout must not be null");
			if (view.number() < 1 || view.index().isEmpty()) {
				throw new IllegalArgumentException(
						("The view %d does not contain this instance, so it cannot enter the "
								+ "barrier '%s' with it: use the current() view of ClusterView, once it has an index()")
							.formatted(view.number(), this.name));
			}
			MemberId self = Objects.requireNonNull(view.self());
			if (!StoredBarriers.this.session.continues(self)) {
				throw new ViewChangedException(("The view %d was read in the session %s of this instance, which has "
						+ "ended, so it cannot enter the barrier '%s' with it. Use the current view")
					.formatted(view.number(), self, this.name));
			}
			enter(view.size(), view.number(), self, timeout);
		}

		private void enter(int parties, long view, @Nullable MemberId self, Duration timeout)
				throws InterruptedException, TimeoutException {
			MonotonicTime deadline = deadline(timeout);
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			Participation participation = begin(this.name);
			Entry entry = null;
			try {
				entry = enter(participation, parties, view, self, timeout, deadline);
			}
			finally {
				if (entry == null) {
					end(participation);
				}
				else {
					participation.entered(entry);
				}
			}
		}

		private Entry enter(Participation participation, int parties, long view, @Nullable MemberId self,
				Duration timeout, MonotonicTime deadline) throws InterruptedException, TimeoutException {
			Thread waiting = Thread.currentThread();
			BarrierRequest request = entering(participation, parties, view, self, () -> LockSupport.unpark(waiting));
			Reply reply;
			try {
				reply = request.await(deadline);
			}
			catch (InterruptedException ex) {
				Entry entry = withdraw(participation, request);
				if (entry == null) {
					throw ex;
				}
				waiting.interrupt();
				return entry;
			}
			catch (StoreUnavailableException ex) {
				Entry entry = withdraw(participation, request);
				if (entry == null) {
					throw ex;
				}
				return entry;
			}
			if (reply instanceof Entered entered) {
				return new Entry(Objects.requireNonNull(request.askedAs()), entered.round());
			}
			if (reply instanceof OtherParties others) {
				throw new IllegalArgumentException(differs(parties, view, others));
			}
			if (reply == null) {
				Entry entry = withdraw(participation, request);
				if (entry != null) {
					return entry;
				}
				reply = request.last();
			}
			if (reply instanceof ViewChanged changed) {
				throw new ViewChangedException(
						("The barrier '%s' cannot be entered with the view %d: the group has the "
								+ "view %d. Use the current view")
							.formatted(this.name, view, changed.current()));
			}
			throw timedOut(
					"Cannot enter the barrier '%s' with %d parties within %s: ".formatted(this.name, parties, timeout),
					request, "in");
		}

		private String differs(int parties, long view, OtherParties others) {
			if (others.withView() != (view != 0)) {
				return ("Those who wait at the barrier '%s' have come %s a view, and this instance %s one: all parties "
						+ "of a round come either with a view or with a number")
					.formatted(this.name, others.withView() ? "with" : "without", (view != 0) ? "with" : "without");
			}
			return "Those who wait at the barrier '%s' have come for %d parties, and this instance for %d: use the same number"
				.formatted(this.name, others.parties(), parties);
		}

		@Override
		public void leave(Duration timeout) throws InterruptedException, TimeoutException {
			Objects.requireNonNull(timeout, "timeout must not be null");
			MonotonicTime deadline = deadline(timeout);
			Participation participation = StoredBarriers.this.participations.get(this.name);
			Entry entry = (participation != null) ? participation.startLeaving() : null;
			if (participation == null || entry == null) {
				throw new IllegalStateException(
						"This instance has not entered the barrier '%s', or has left it already".formatted(this.name));
			}
			Thread waiting = Thread.currentThread();
			BarrierRequest request = leaving(participation, entry, () -> LockSupport.unpark(waiting));
			try {
				Reply reply = request.await(deadline);
				if (reply == null) {
					throw timedOut("Not all have left the barrier '%s' within %s: ".formatted(this.name, timeout),
							request, "done");
				}
				if (reply instanceof Broken broken) {
					throw new BarrierBrokenException(
							"The round at the barrier '%s' is not complete: %s have not left it, but ended or aborted"
								.formatted(this.name, broken.missing()),
							broken.missing());
				}
				if (!(reply instanceof Over)) {
					throw new BarrierBrokenException(
							("The store has lost the round at the barrier '%s' in which this "
									+ "instance was: whether the others are done is unknown")
								.formatted(this.name),
							List.of());
				}
			}
			finally {
				Reply last = request.last();
				left(participation, entry, last != null && !(last instanceof Paused));
				end(participation);
			}
		}

		@Override
		public void abort() {
			Participation participation = StoredBarriers.this.participations.get(this.name);
			Entry entry = (participation != null) ? participation.startLeaving() : null;
			if (participation != null && entry != null) {
				end(participation);
				StoredBarriers.this.abort(participation, entry);
			}
		}

		private TimeoutException timedOut(String what, BarrierRequest request, String done) {
			StoreUnavailableException failure = request.failure();
			TimeoutException problem = new TimeoutException(what + why(request, failure, done));
			if (failure != null) {
				problem.initCause(failure);
			}
			return problem;
		}

		private String why(BarrierRequest request, @Nullable StoreUnavailableException failure, String done) {
			Reply last = request.last();
			if (failure != null) {
				return "the store does not reply";
			}
			if (StoredBarriers.this.session.member() == null) {
				return "this instance has no session in group '%s', or not its lease"
					.formatted(StoredBarriers.this.session.group());
			}
			if (last instanceof Waiting waiting) {
				return "%d of %d are %s".formatted(waiting.done(), waiting.parties(), done);
			}
			if (last instanceof Busy busy) {
				return ("a round without this instance is under way, and %d of its %d parties have left. It can enter "
						+ "the next round")
					.formatted(busy.left(), busy.parties());
			}
			return "the group is being rebuilt after a loss of data";
		}

		private MonotonicTime deadline(Duration timeout) {
			if (timeout.isNegative()) {
				throw new IllegalArgumentException("The time-out %s at the barrier '%s' is negative: use zero or more"
					.formatted(timeout, this.name));
			}
			return now().plus((timeout.compareTo(LONGEST_WAIT) > 0) ? LONGEST_WAIT : timeout);
		}

		@Override
		public String toString() {
			return "barrier '" + this.name + "' of group '" + StoredBarriers.this.session.group() + "'";
		}

	}

}
