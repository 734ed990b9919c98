package io.github.shardkeeper.simulation;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;

import org.jspecify.annotations.Nullable;

/**
 * Time that passes only from event to event, and the one thread at a time on which events
 * happen. Code under test may block in it: {@link #block} lets other events happen
 * meanwhile, on another thread, and comes back when its own moment has come. However many
 * threads wait, one runs; so the order of everything follows from the events alone, and
 * the same seed gives the same schedule.
 */
final class VirtualTime {

	/** More events than that in one schedule: something spins. */
	private static final int MOST_EVENTS = 2_000_000;

	/**
	 * Whether threads are named after the moment and the process, for logs of a replay.
	 */
	private final boolean traced;

	private final Runners runners;

	private final PriorityQueue<Event> queue = new PriorityQueue<>();

	private final Semaphore finished = new Semaphore(0);

	private final ScheduleDigest digest = new ScheduleDigest();

	private long now = 1_000_000_000L;

	private long events;

	private int waiting;

	private boolean ending;

	private boolean pausing;

	private @Nullable Throwable failure;

	VirtualTime(Runners runners, boolean traced) {
		this.traced = traced;
		this.runners = runners;
	}

	/** The time in nanoseconds. */
	long now() {
		return this.now;
	}

	/** The time on the wall. */
	Instant wallTime() {
		return Instant.ofEpochSecond(1_000_000).plusNanos(this.now);
	}

	long events() {
		return this.events;
	}

	/** Returns the digests of what happens; the steps come from here. */
	ScheduleDigest digest() {
		return this.digest;
	}

	/** Has something happen on behalf of a process, {@code null} for the world's. */
	Event at(long nanos, @Nullable SimulatedProcess owner, Runnable action) {
		return add(nanos, owner, action, owner != null);
	}

	/**
	 * Has something happen that never blocks, so that it needs no thread of its own; what
	 * is the world's never does.
	 */
	Event briefly(long nanos, SimulatedProcess owner, Runnable action) {
		return add(nanos, owner, action, false);
	}

	private Event add(long nanos, @Nullable SimulatedProcess owner, Runnable action, boolean mayBlock) {
		Event event = new Event(Math.max(nanos, this.now), this.events++, owner, action, null, mayBlock);
		this.queue.add(event);
		return event;
	}

	/** Ends the schedule after the event that happens now. */
	void end() {
		this.ending = true;
	}

	/** Holds everything after the event that happens now, until it is run on. */
	void pause() {
		this.pausing = true;
	}

	void fail(Throwable cause) {
		if (this.failure == null) {
			this.failure = cause;
		}
		this.ending = true;
	}

	/** Runs to the end, or to the first failure, or until it is paused. */
	@Nullable Throwable run() {
		this.runners.next().hand(this, null);
		this.finished.acquireUninterruptibly();
		return this.failure;
	}

	/** Lets time pass on the thread that runs now. */
	void block(long until, SimulatedProcess owner, boolean interruptible) throws InterruptedException {
		Event next = peek();
		if ((next == null || next.at > until) && !this.ending) {
			this.now = Math.max(this.now, until);
			this.digest.step(this.now, owner.name(), true);
			return;
		}
		Runners.Runner self = Runners.current();
		if (self.waiter != null) {
			throw new AssertionError("An event that was said never to block does");
		}
		Waiter waiter = new Waiter(self, owner, interruptible);
		wakeAt(waiter, until);
		this.waiting++;
		owner.waiters.add(waiter);
		self.waiter = waiter;
		if (!goOn(self)) {
			self.awaitBaton();
		}
		self.waiter = null;
		name(owner);
		this.waiting--;
		owner.waiters.remove(waiter);
		if (owner.isCrashed()) {
			throw new SimulatedCrash();
		}
		if (waiter.interrupted) {
			throw new InterruptedException("The simulated call was interrupted");
		}
	}

	/** Interrupts a thread that may be blocked. */
	void interrupted(Runners.Runner runner) {
		Waiter waiter = runner.waiter;
		if (waiter != null && waiter.interruptible && !waiter.interrupted) {
			waiter.interrupted = true;
			wakeNow(waiter);
		}
	}

	void wakeNow(Waiter waiter) {
		wakeAt(waiter, this.now);
	}

	private void wakeAt(Waiter waiter, long nanos) {
		if (waiter.event != null) {
			waiter.event.cancel();
		}
		waiter.event = new Event(Math.max(nanos, this.now), this.events++, waiter.owner, null, waiter, false);
		this.queue.add(waiter.event);
	}

	/**
	 * What the thread that has the baton does until somebody else gets it. Changing
	 * threads is what costs most: one that is blocked goes on with what never blocks, and
	 * has nobody woken when the next to wake is itself.
	 * @param self the running thread
	 * @return whether the thread was blocked, and is to run on; otherwise another one has
	 * the baton
	 */
	private boolean goOn(Runners.Runner self) {
		while (true) {
			if (this.pausing) {
				this.pausing = false;
				return handBack(self);
			}
			Event event = take();
			if (event == null) {
				return handBack(self);
			}
			if (event.waiter != null) {
				Runners.Runner woken = event.waiter.runner;
				return woken == self || hand(self, woken, null);
			}
			if (event.mayBlock && self.waiter != null) {
				return hand(self, this.runners.next(), event);
			}
			happen(event);
		}
	}

	/** The next event whose time it is, {@code null} when the schedule has ended. */
	private @Nullable Event take() {
		while (true) {
			Event event = (!this.ending || this.waiting > 0) ? peek() : null;
			if (event == null) {
				return null;
			}
			this.queue.poll();
			SimulatedProcess owner = event.owner;
			if (this.events > MOST_EVENTS) {
				fail(new AssertionError("Does not come to rest: at " + this.now + ", " + owner + " does " + event.action
						+ " again and again"));
			}
			if (owner != null && owner.frozenUntil() > event.at && !owner.isCrashed()) {
				event.at = owner.frozenUntil();
				this.queue.add(event);
				continue;
			}
			this.now = Math.max(this.now, event.at);
			if (event.waiter != null || !this.ending && (owner == null || !owner.isCrashed())) {
				this.digest.step(this.now, (owner != null) ? owner.name() : null, event.waiter != null);
				return event;
			}
		}
	}

	/** The next event that has not become pointless. */
	private @Nullable Event peek() {
		Event event = this.queue.peek();
		while (event != null && event.cancelled) {
			this.queue.poll();
			event = this.queue.peek();
		}
		return event;
	}

	private boolean handBack(Runners.Runner self) {
		this.runners.restUnlessBlocked(self);
		this.finished.release();
		return false;
	}

	private boolean hand(Runners.Runner self, Runners.Runner other, @Nullable Event first) {
		this.runners.restUnlessBlocked(self);
		other.hand(this, first);
		return false;
	}

	/** Step of a thread that was not blocked and gets the baton. */
	private void begin(Runners.Runner self, @Nullable Event first) {
		if (first != null) {
			happen(first);
		}
		goOn(self);
	}

	private void happen(Event event) {
		name(event.owner);
		try {
			event.action.run();
		}
		catch (SimulatedCrash ex) {
			// The end of a process that was in the middle of it.
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private void name(@Nullable SimulatedProcess owner) {
		if (this.traced) {
			Thread.currentThread()
				.setName("%6d ms %s".formatted(this.now / 1_000_000 - 1000, (owner != null) ? owner : "world"));
		}
	}

	/** Something that happens at a time; at the same time, in the order of its making. */
	static final class Event implements Comparable<Event> {

		private long at;

		private final long number;

		private final @Nullable SimulatedProcess owner;

		private final @Nullable Runnable action;

		private final @Nullable Waiter waiter;

		private final boolean mayBlock;

		private boolean cancelled;

		private Event(long at, long number, @Nullable SimulatedProcess owner, @Nullable Runnable action,
				@Nullable Waiter waiter, boolean mayBlock) {
			this.at = at;
			this.number = number;
			this.owner = owner;
			this.action = action;
			this.waiter = waiter;
			this.mayBlock = mayBlock;
		}

		/** Has it not happen. */
		void cancel() {
			this.cancelled = true;
		}

		@Override
		public int compareTo(Event other) {
			return (this.at != other.at) ? Long.compare(this.at, other.at) : Long.compare(this.number, other.number);
		}

	}

	/** A thread that is blocked. */
	static final class Waiter {

		private final Runners.Runner runner;

		private final SimulatedProcess owner;

		private final boolean interruptible;

		private boolean interrupted;

		private @Nullable Event event;

		private Waiter(Runners.Runner runner, SimulatedProcess owner, boolean interruptible) {
			this.runner = runner;
			this.owner = owner;
			this.interruptible = interruptible;
		}

	}

	/** The threads, of which one runs; may serve one schedule after the other. */
	static final class Runners implements AutoCloseable {

		private final Deque<Runner> idle = new ArrayDeque<>();

		private volatile boolean closed;

		static Runner current() {
			return (Runner) Thread.currentThread();
		}

		private Runner next() {
			Runner runner = this.idle.poll();
			if (runner == null) {
				runner = new Runner(this);
				runner.setDaemon(true);
				runner.start();
			}
			return runner;
		}

		private void restUnlessBlocked(Runner runner) {
			if (runner.waiter == null) {
				this.idle.push(runner);
			}
		}

		@Override
		public void close() {
			this.closed = true;
			this.idle.forEach((runner) -> runner.baton.release());
			this.idle.clear();
		}

		/** One thread. */
		static final class Runner extends Thread {

			private final Runners runners;

			private final Semaphore baton = new Semaphore(0);

			private @Nullable VirtualTime time;

			private @Nullable Event first;

			private @Nullable Waiter waiter;

			private Runner(Runners runners) {
				super("simulation");
				this.runners = runners;
			}

			private void hand(VirtualTime virtualTime, @Nullable Event event) {
				this.time = virtualTime;
				this.first = event;
				this.baton.release();
			}

			private void awaitBaton() {
				this.baton.acquireUninterruptibly();
			}

			/** A thread that is blocked in virtual time is woken there, not here. */
			@Override
			public void interrupt() {
				if (Thread.currentThread() == this && this.waiter == null) {
					// A handler that keeps its interruption for its caller. While one is
					// blocked, its thread runs what happens to others.
					super.interrupt();
					return;
				}
				VirtualTime virtualTime = this.time;
				if (virtualTime != null) {
					virtualTime.interrupted(this);
				}
			}

			@Override
			public void run() {
				while (true) {
					awaitBaton();
					if (this.runners.closed) {
						return;
					}
					this.time.begin(this, this.first);
				}
			}

		}

	}

}
