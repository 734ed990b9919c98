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
 * The earliest timers of a shard that nobody has taken. It has all that are due before
 * its horizon; of the others some may be in the store alone, or in a commit that is to be
 * made. Full, it drops the latest one, and has the horizon there. Confined to the shard's
 * worker.
 */
final class TimerWindow {

	private static final int MAX_TIMERS = 2_000;

	private static final Comparator<StoredTimer> BY_DUE = Comparator.comparing(StoredTimer::due)
		.thenComparing((timer) -> timer.id().key())
		.thenComparing((timer) -> timer.id().name());

	/** Where the reading begins again at the horizon; no such one exists. */
	private static final TimerId BOUND = new TimerId("-", "-");

	private final NavigableSet<StoredTimer> timers = new TreeSet<>(BY_DUE);

	private final Map<TimerId, StoredTimer> byId = new HashMap<>();

	/** Time before which all timers are known. */
	private Instant horizon = Instant.MIN;

	/** Last timer that was read, {@code null} to begin at the horizon. */
	private @Nullable StoredTimer lastRead;

	/** Whether timers were not kept since the reading has begun at the horizon. */
	private boolean hasLeftOut;

	/** Whether that was in this reading, of timers that the store may have. */
	private boolean hasMissed;

	/** Returns whether the store has no timer that is not known here. */
	boolean isComplete() {
		return this.horizon.equals(Instant.MAX);
	}

	/** Processes that the store has none. */
	void complete() {
		this.horizon = Instant.MAX;
		this.lastRead = null;
	}

	/** Reads the store from its first timer again. */
	void readAgain() {
		this.horizon = Instant.MIN;
		this.lastRead = null;
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

	/**
	 * Adds a timer, or replaces it; it is not kept if it is due at the horizon or after.
	 */
	void put(StoredTimer timer) {
		if (!putUncommitted(timer)) {
			this.hasMissed = true;
		}
	}

	/** Does the same for one that the store does not have yet; returns whether it is. */
	boolean putUncommitted(StoredTimer timer) {
		remove(timer.id());
		boolean kept = timer.due().isBefore(this.horizon);
		if (kept) {
			add(timer);
		}
		else {
			this.hasLeftOut = true;
		}
		return kept;
	}

	private void add(StoredTimer timer) {
		this.timers.add(timer);
		this.byId.put(timer.id(), timer);
		if (this.timers.size() > MAX_TIMERS) {
			StoredTimer latest = this.timers.last();
			remove(latest.id());
			this.hasLeftOut = true;
			if (latest.due().isBefore(this.horizon)) {
				this.horizon = latest.due();
			}
		}
	}

	void remove(TimerId id) {
		StoredTimer known = this.byId.remove(id);
		if (known != null) {
			this.timers.remove(known);
		}
	}

	/**
	 * Begins a reading. It goes on after the last one, unless timers were not kept since:
	 * the store has an order of its own among those of a time, so they may be before.
	 * @return the timer after which to read, {@code null} for the first one
	 */
	@Nullable StoredTimer beginReading() {
		if (this.hasLeftOut) {
			this.lastRead = null;
		}
		this.hasLeftOut = false;
		this.hasMissed = false;
		if (this.lastRead == null && this.horizon.isAfter(Instant.MIN)) {
			return new StoredTimer(BOUND, this.horizon.minusMillis(1));
		}
		return this.lastRead;
	}

	/**
	 * Adds what was read next. Without any, all are known, unless some were missed: then
	 * the reading begins again.
	 * @param isNewer whether more is known of a timer than the store has
	 */
	void read(List<StoredTimer> page, Predicate<TimerId> isNewer) {
		if (page.isEmpty()) {
			if (!this.hasMissed) {
				complete();
			}
			return;
		}
		this.lastRead = page.get(page.size() - 1);
		this.horizon = this.lastRead.due();
		for (StoredTimer stored : page) {
			if (!contains(stored.id()) && !isNewer.test(stored.id())) {
				add(stored);
			}
		}
	}

}
