package io.github.shardkeeper.coordination.member;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * A request to leave the group: announced once per session, and hurried once when the
 * patience has ended. Confined to the coordinator's loop.
 */
public final class Departure {

	private final MonotonicTime patienceEndsAt;

	private final CompletableFuture<Void> departed;

	private boolean announced;

	private boolean hurried;

	public Departure(MonotonicTime patienceEndsAt, CompletableFuture<Void> departed) {
		this.patienceEndsAt = patienceEndsAt;
		this.departed = departed;
	}

	boolean isAnnounced() {
		return this.announced;
	}

	void announced() {
		this.announced = true;
	}

	/** Has the departure announced again. */
	void sessionBegun() {
		this.announced = false;
	}

	boolean isImpatient(MonotonicTime now) {
		return !now.isBefore(this.patienceEndsAt);
	}

	/** Returns {@code true} once, when the patience has ended. */
	boolean hurriesNow(MonotonicTime now) {
		if (this.hurried || !isImpatient(now)) {
			return false;
		}
		this.hurried = true;
		return true;
	}

	void departed() {
		this.departed.complete(null);
	}

	@Nullable MonotonicTime wakeAt() {
		return this.hurried ? null : this.patienceEndsAt;
	}

}
