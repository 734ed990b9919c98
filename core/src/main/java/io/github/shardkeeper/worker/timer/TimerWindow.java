package io.github.shardkeeper.worker.timer;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;

/**
 * The earliest timers of a shard that nobody has taken. It has all up to its horizon:
 * others that are due later are in the store, or in a commit that is to be made. Full, it
 * drops the latest and moves the horizon to before them. Confined to the shard's worker.
 */
final class TimerWindow {

	private static final int MAX_TIMERS = 2_000;

	/** Number that a full window keeps at most. */
	private static final int KEPT = 1_000;

	private static final Comparator<StoredTimer> BY_DUE = Comparator.comparing(StoredTimer::due)
		.thenComparing((timer) -> timer.id().key())
		.thenComparing((timer) -> timer.id().name());

	/** Where the reading begins again after the horizon was moved; no such one exists. */
	private static final TimerId BOUND = new TimerId("-", "-");

	private final NavigableSet<StoredTimer> timers = new TreeSet<>(BY_DUE);

	private final Map<TimerId, StoredTimer> byId = new HashMap<>();

	/** Time up to which all timers are known. */
	private Instant horizon = Instant.MIN;

	/** Timer after which the store is read, {@code null} to begin. */
	private @Nullable StoredTimer readUpTo;

	/** Returns whether the store has no timer that is not known here. */
	boolean isComplete() {
		return this.horizon.equals(Instant.MAX);
	}

	/** Processes that the store has none. */
	void complete() {
		this.horizon = Instant.MAX;
	}

	/** Reads the store from its first timer again. */
	void readAgain() {
		this.horizon = Instant.MIN;
		this.readUpTo = null;
	}

	boolean isEmpty() {
		return this.timers.isEmpty();
	}

	/** Returns whether the store may have one that is due before all that are here. */
	boolean needsReading() {
		return !isComplete() && (isEmpty() || this.timers.first().due().isAfter(this.horizon));
	}

	boolean contains(TimerId id) {
		return this.byId.containsKey(id);
	}

	@Nullable StoredTimer first() {
		return this.timers.isEmpty() ? null : this.timers.first();
	}

	/** Returns the timers, the earliest first. */
	Iterable<StoredTimer> all() {
		return this.timers;
	}

	/** Adds a timer, or replaces it; it is not kept if it is due after the horizon. */
	void put(StoredTimer timer) {
		remove(timer.id());
		if (timer.due().isAfter(this.horizon)) {
			return;
		}
		this.timers.add(timer);
		this.byId.put(timer.id(), timer);
		if (this.timers.size() > MAX_TIMERS) {
			dropLatest();
		}
	}

	void remove(TimerId id) {
		StoredTimer known = this.byId.remove(id);
		if (known != null) {
			this.timers.remove(known);
		}
	}

	/** All of a time are dropped together: the store has an order of its own for them. */
	private void dropLatest() {
		Instant cut = this.timers.stream().skip(KEPT).findFirst().orElseThrow().due();
		while (!this.timers.isEmpty() && !this.timers.last().due().isBefore(cut)) {
			this.byId.remove(this.timers.pollLast().id());
		}
		if (!this.horizon.isBefore(cut)) {
			this.horizon = cut.minusMillis(1);
			this.readUpTo = new StoredTimer(BOUND, this.horizon);
		}
	}

	/** Returns the timer after which to read, {@code null} to begin. */
	@Nullable StoredTimer readUpTo() {
		return this.readUpTo;
	}

	/**
	 * Adds what was read after {@link #readUpTo()}; nothing if the store has no more.
	 * @param isNewer whether more is known of a timer than the store has
	 */
	void read(List<StoredTimer> page, Predicate<TimerId> isNewer) {
		if (page.isEmpty()) {
			complete();
			return;
		}
		StoredTimer last = page.get(page.size() - 1);
		this.readUpTo = last;
		this.horizon = last.due();
		for (StoredTimer stored : page) {
			if (!contains(stored.id()) && !isNewer.test(stored.id())) {
				put(stored);
			}
		}
	}

}
