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

	/** Somebody may set the clock forward meanwhile. */
	private static final Duration MAX_WAIT = Duration.ofMinutes(1);

	private final JournaledState state;

	private final InstantSource wallClock;

	/** Not before that; {@code null} for now. */
	private @Nullable MonotonicTime nextLook;

	/** Whether there was something to remove at the last look. */
	private boolean due;

	/** Whether the last commit had no room for more. */
	private boolean full;

	ExpiredEntries(JournaledState state, InstantSource wallClock) {
		this.state = state;
		this.wallClock = wallClock;
	}

	/** Looks for entries to remove; returns whether a commit is newly needed. */
	boolean look(MonotonicTime now) {
		if (this.due || this.nextLook != null && now.isBefore(this.nextLook)
				|| this.state.nextExpiry() == Long.MAX_VALUE) {
			return false;
		}
		this.nextLook = now.plus(PAUSE);
		this.due = this.state.hasExpired(this.wallClock.millis());
		return this.due;
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
		long wait = Math.min(Math.max(0, expiry - this.wallClock.millis()), MAX_WAIT.toMillis());
		MonotonicTime then = now.plus(Duration.ofMillis(wait));
		return (this.nextLook != null && then.isBefore(this.nextLook)) ? this.nextLook : then;
	}

	@Override
	public boolean isEmpty() {
		return !this.due;
	}

	/** Calls of transactions commit by themselves what they have seen. */
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
		if (this.full) {
			this.nextLook = null;
		}
		return Added.NOTHING;
	}

}
