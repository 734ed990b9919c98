package io.github.shardkeeper.coordination;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.MonotonicTime;

/**
 * How far this member has come with leaving its group. Confined to the coordinator's
 * loop, but for the future.
 */
final class Departure {

	private final MonotonicTime patienceEndsAt;

	private final CompletableFuture<Void> departed;

	private boolean announced;

	private boolean hurried;

	/**
	 * Begins a departure.
	 * @param patienceEndsAt how long to wait for the leader to move the shards away
	 * @param departed is completed at the end
	 */
	Departure(MonotonicTime patienceEndsAt, CompletableFuture<Void> departed) {
		this.patienceEndsAt = patienceEndsAt;
		this.departed = departed;
	}

	boolean isAnnounced() {
		return this.announced;
	}

	void announced() {
		this.announced = true;
	}

	/** The group does not know of it any more. */
	void sessionBegun() {
		this.announced = false;
	}

	/** Whether patience has ended. */
	boolean isImpatient(MonotonicTime now) {
		return !now.isBefore(this.patienceEndsAt);
	}

	/** Whether patience has ended; told once. */
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

	/** When to look again if nothing happens, {@code null} for no need. */
	@Nullable MonotonicTime wakeAt() {
		return this.hurried ? null : this.patienceEndsAt;
	}

}
