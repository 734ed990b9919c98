package io.github.shardkeeper.test.slice;

import java.time.Duration;
import java.time.Instant;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.time.WallClock;

/**
 * Time that a test sets, and what is due in it. Everything happens on the thread that
 * runs it, in the order of its time and then of its making, so that the same test gives
 * the same schedule. Confined to the thread of the test, except {@link #at}.
 */
final class SteppedTime implements WallClock {

	private static final MonotonicTime START = new MonotonicTime(0);

	private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");

	/** More events than that at one moment: something spins. */
	private static final int MOST_EVENTS_AT_ONCE = 1_000_000;

	/** Guarded by itself: handlers may complete results on other threads. */
	private final PriorityQueue<Event> queue = new PriorityQueue<>();

	private volatile MonotonicTime now = START;

	/** Guarded by the queue. */
	private long made;

	/** Goes back to the beginning; nothing is due. */
	void reset() {
		synchronized (this.queue) {
			this.queue.clear();
			this.now = START;
			this.made = 0;
		}
	}

	@Override
	public Instant instant() {
		return BEGINNING.plusNanos(nanos());
	}

	MonotonicTime monotonic() {
		return this.now;
	}

	long nanos() {
		return this.now.nanos();
	}

	/** Has a process do something at a time, at the earliest now. */
	Event at(long time, InstanceProcess process, Runnable action) {
		synchronized (this.queue) {
			Event event = new Event(Math.max(time, nanos()), this.made++, process, action);
			this.queue.add(event);
			return event;
		}
	}

	/**
	 * Runs what is due, and lets time pass until then.
	 * @param until the end
	 * @param deliver passes on what was sent meanwhile, and returns whether there was
	 * anything
	 * @param enough ends it early; asked whenever nothing is due at a moment
	 * @return whether it was ended early
	 */
	boolean run(long until, BooleanSupplier deliver, BooleanSupplier enough) {
		int atOnce = 0;
		while (true) {
			Event event = take(nanos());
			if (event != null) {
				event.run();
				if (++atOnce > MOST_EVENTS_AT_ONCE) {
					throw new IllegalStateException(
							"At %s there is always more to do: does a handler send to its ".formatted(instant())
									+ "own topic, or ask for a retry without a pause?");
				}
			}
			else if (!deliver.getAsBoolean()) {
				if (enough.getAsBoolean()) {
					return true;
				}
				if (nanos() >= until) {
					return false;
				}
				this.now = new MonotonicTime(Math.min(until, next()));
				atOnce = 0;
			}
		}
	}

	/** Returns the next event that is due. */
	private @Nullable Event take(long now) {
		synchronized (this.queue) {
			for (Event event = this.queue.peek(); event != null && event.at <= now; event = this.queue.peek()) {
				this.queue.poll();
				if (event.cancelled || event.process.isEnded()) {
					continue;
				}
				if (event.process.frozenUntil() <= now) {
					return event;
				}
				event.at = event.process.frozenUntil();
				this.queue.add(event);
			}
			return null;
		}
	}

	private long next() {
		synchronized (this.queue) {
			Event event = this.queue.peek();
			return (event != null) ? event.at : Long.MAX_VALUE;
		}
	}

	/** Something that happens at a time. */
	static final class Event implements Comparable<Event> {

		private long at;

		private final long number;

		private final InstanceProcess process;

		private final Runnable action;

		private volatile boolean cancelled;

		private Event(long at, long number, InstanceProcess process, Runnable action) {
			this.at = at;
			this.number = number;
			this.process = process;
			this.action = action;
		}

		void cancel() {
			this.cancelled = true;
		}

		private void run() {
			try {
				this.action.run();
			}
			catch (InstanceCrash ex) {
				// The end of a process that was in the middle of it.
			}
		}

		@Override
		public int compareTo(Event other) {
			return (this.at != other.at) ? Long.compare(this.at, other.at) : Long.compare(this.number, other.number);
		}

	}

	/** Converts a duration that may be that of ages. */
	static long nanos(Duration duration) {
		try {
			return duration.toNanos();
		}
		catch (ArithmeticException ex) {
			throw new IllegalArgumentException("A test cannot let %s pass: at most 292 years".formatted(duration), ex);
		}
	}

}
