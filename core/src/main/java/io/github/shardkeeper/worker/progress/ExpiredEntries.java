package io.github.shardkeeper.worker.progress;

import java.time.Duration;
import java.time.InstantSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Removal of entries of the state that have expired, a limited number with each commit.
 * Until then calls do not see them either, so it can wait for a commit. A state that is
 * not in memory is searched for them from time to time, in small parts. Confined to the
 * shard's worker.
 */
final class ExpiredEntries implements CommitPart {

	static final int MAX_PER_COMMIT = 1000;

	/** Time between two looks, as long as a commit has room for all. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** The same, if the clock may be set forward, or if calls have to wait for it. */
	private static final Duration MAX_PAUSE = Duration.ofMinutes(1);

	/** Time between the beginnings of two searches of the whole state in the store. */
	private static final Duration SEARCH_INTERVAL = Duration.ofHours(1);

	private static final Logger logger = PrintableLogger.of(ExpiredEntries.class);

	private final JournaledState state;

	private final InstantSource wallClock;

	private MonotonicTime lastLook;

	/** When to search the next part of the store; {@code null} if all is in memory. */
	private @Nullable MonotonicTime nextPart;

	private MonotonicTime searchBegun;

	/** Whether there was something to remove at the last look. */
	private boolean due;

	/** Whether the last commit had no room for more. */
	private boolean full;

	ExpiredEntries(JournaledState state, InstantSource wallClock, MonotonicTime now) {
		this.state = state;
		this.wallClock = wallClock;
		this.lastLook = now;
		this.searchBegun = now.plus(MAX_PAUSE);
		this.nextPart = state.isInMemory() ? null : this.searchBegun;
	}

	/**
	 * Looks for entries to remove; returns whether a commit is newly needed.
	 * @param callsWait whether calls have to wait for that commit
	 */
	boolean look(MonotonicTime now, boolean callsWait) {
		if (this.due || now.isBefore(this.lastLook.plus(callsWait ? MAX_PAUSE : pause()))) {
			return false;
		}
		this.lastLook = now;
		if (this.nextPart != null && !now.isBefore(this.nextPart)) {
			this.nextPart = search(now);
		}
		this.due = this.state.hasExpired(this.wallClock.millis());
		// What is left may be kept by a call that still runs.
		this.full = this.full && this.due;
		return this.due;
	}

	private Duration pause() {
		return this.full ? Duration.ZERO : PAUSE;
	}

	/** Searches a part of the store; returns when to search the next one. */
	private MonotonicTime search(MonotonicTime now) {
		MonotonicTime soon = now.plus(PAUSE);
		try {
			if (this.state.searchExpired(this.wallClock.millis())) {
				return soon;
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The state cannot be searched for expired entries now", ex);
			return now.plus(MAX_PAUSE);
		}
		MonotonicTime next = this.searchBegun.plus(SEARCH_INTERVAL);
		this.searchBegun = next.isBefore(soon) ? soon : next;
		return this.searchBegun;
	}

	/** Returns whether there is more than one commit removes. */
	boolean isBacklog() {
		return this.full;
	}

	/**
	 * Returns when to look next, {@code null} if nothing expires, or a commit is needed
	 * first.
	 */
	@Nullable MonotonicTime nextLook(MonotonicTime now) {
		MonotonicTime next = this.due ? null : MonotonicTime.earliestOf(this.nextPart, nextRemoval(now));
		MonotonicTime earliest = this.lastLook.plus(pause());
		return (next != null && next.isBefore(earliest)) ? earliest : next;
	}

	private @Nullable MonotonicTime nextRemoval(MonotonicTime now) {
		long expiry = this.state.nextExpiry();
		if (expiry == Long.MAX_VALUE) {
			return null;
		}
		long wait = Math.min(Math.max(0, expiry - this.wallClock.millis()), MAX_PAUSE.toMillis());
		return now.plus(Duration.ofMillis(wait));
	}

	@Override
	public boolean isEmpty() {
		return !this.due;
	}

	/** Calls in transactions commit by themselves, and not what has expired. */
	@Override
	public boolean isExclusive() {
		return this.due;
	}

	/** Removes them from the state, which adds that to the commit. */
	@Override
	public Added addTo(Commit.Builder commit) {
		int removed = this.state.removeExpired(this.wallClock.millis(), MAX_PER_COMMIT);
		this.due = false;
		this.full = removed == MAX_PER_COMMIT;
		return Added.NOTHING;
	}

}
