package io.github.shardkeeper.benchmarks.timers;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * The timers of one contender, by their numbers: when they are due, which are set, and
 * how late they fired. Each is to fire once, and never early. The phases of a measurement
 * follow one another; in a phase, all methods are thread-safe.
 */
final class Alarms {

	private static final int PATIENCE_SECONDS = 240;

	private final Map<Integer, Double> latenessMillis = new ConcurrentHashMap<>();

	private final AtomicInteger early = new AtomicInteger();

	private final AtomicInteger repeated = new AtomicInteger();

	private int expected;

	private volatile Phase phase = new Phase(0, Instant::now);

	/**
	 * Begins a phase in which all timers are set and none fires.
	 * @param timers the number of timers
	 * @param due returns when the next one is due
	 */
	void beginSetting(int timers, Supplier<Instant> due) {
		this.phase = new Phase(timers, due);
	}

	/** Begins a phase in which all timers are set and fire. */
	void begin(int timers, Supplier<Instant> due) {
		this.expected += timers;
		beginSetting(timers, due);
	}

	/** Returns when the next timer is due, in whole milliseconds. */
	Instant due() {
		this.phase.firstNanos.compareAndSet(0, System.nanoTime());
		return this.phase.due.get().truncatedTo(ChronoUnit.MILLIS);
	}

	/** Has one more timer set. */
	void set() {
		this.phase.setNanos = System.nanoTime();
		this.phase.set.countDown();
	}

	void fired(int number, Instant due) {
		Instant now = Instant.now();
		double millis = Duration.between(due, now).toNanos() / 1e6;
		if (millis < 0) {
			this.early.incrementAndGet();
		}
		if (this.latenessMillis.putIfAbsent(number, millis) != null) {
			this.repeated.incrementAndGet();
		}
		this.phase.lastFired = now;
		this.phase.fired.countDown();
	}

	/** Waits until all are set; returns how many were per second. */
	double awaitSet() throws InterruptedException {
		await(this.phase.set, "set");
		return this.phase.timers * 1e9 / (this.phase.setNanos - this.phase.firstNanos.get());
	}

	/** Waits until all have fired; returns when the last one has. */
	Instant awaitFired() throws InterruptedException {
		await(this.phase.fired, "fired");
		return this.phase.lastFired;
	}

	private static void await(CountDownLatch timers, String done) throws InterruptedException {
		if (!timers.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			throw new IllegalStateException(
					"After %d s %,d timers are not %s".formatted(PATIENCE_SECONDS, timers.getCount(), done));
		}
	}

	/** Returns how late the timers of a range were, in milliseconds. */
	Samples latenessMillis(int from, int to) {
		Samples millis = new Samples();
		for (int number = from; number < to; number++) {
			millis.add(this.latenessMillis.get(number));
		}
		return millis;
	}

	/** Fails unless each timer that was to fire has fired once, and none early. */
	void verify() {
		if (this.early.get() > 0 || this.repeated.get() > 0 || this.latenessMillis.size() != this.expected) {
			throw new IllegalStateException("%,d of %,d timers fired, %,d of them early, %,d more than once"
				.formatted(this.latenessMillis.size(), this.expected, this.early.get(), this.repeated.get()));
		}
	}

	private static final class Phase {

		private final int timers;

		private final Supplier<Instant> due;

		private final CountDownLatch set;

		private final CountDownLatch fired;

		private final AtomicLong firstNanos = new AtomicLong();

		private volatile long setNanos;

		private volatile Instant lastFired = Instant.MIN;

		Phase(int timers, Supplier<Instant> due) {
			this.timers = timers;
			this.due = due;
			this.set = new CountDownLatch(timers);
			this.fired = new CountDownLatch(timers);
		}

	}

}
