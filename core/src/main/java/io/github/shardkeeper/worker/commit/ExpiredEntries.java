package io.github.shardkeeper.worker.commit;

import java.time.Duration;
import java.time.InstantSource;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Removal of entries of the state that have expired, a limited number with each commit.
 * Until then calls do not see them either, so it can wait for a commit. Confined to the
 * shard's worker.
 */
final class ExpiredEntries implements CommitPart {

	static final int MAX_PER_COMMIT = 1000;

	/** Time between two looks, as long as a commit has room for all. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** The same, if the clock may be set forward, or if calls have to wait for it. */
	private static final Duration MAX_PAUSE = Duration.ofMinutes(1);

	private final JournaledState state;

	private final InstantSource wallClock;

	private MonotonicTime lastLook;

	/** Whether there was something to remove at the last look. */
	private boolean due;

	/** Whether the last commit had no room for more. */
	private boolean full;

	ExpiredEntries(JournaledState state, InstantSource wallClock, MonotonicTime now) {
		this.state = state;
		this.wallClock = wallClock;
		this.lastLook = now;
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
		this.due = this.state.hasExpired(this.wallClock.millis());
		// What is left may be kept by a call that still runs.
		this.full = this.full && this.due;
		return this.due;
	}

	private Duration pause() {
		return this.full ? Duration.ZERO : PAUSE;
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
		long expiry = this.state.nextExpiry();
		if (this.due || expiry == Long.MAX_VALUE) {
			return null;
		}
		long wait = Math.min(Math.max(0, expiry - this.wallClock.millis()), MAX_PAUSE.toMillis());
		MonotonicTime then = now.plus(Duration.ofMillis(wait));
		MonotonicTime earliest = this.lastLook.plus(pause());
		return then.isBefore(earliest) ? earliest : then;
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
