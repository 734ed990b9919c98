package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.sticky.FallbackAssignment;
import io.github.shardkeeper.protocol.leader.GroupPicture.Roster;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The leader's requests to a strategy that may be slow or fail, and its replies.
 * <p>
 * A reply for other members or shards than the current ones is dropped, and the strategy
 * is asked again. If the next reply is outdated too, it is used as far as it still holds:
 * a slow strategy in a busy group is late but not ignored.
 * <p>
 * While the strategy fails, the leader plans by a {@link FallbackAssignment} and asks
 * again after a pause that grows from 1 s to 30 s. Confined to the coordinator's loop.
 */
final class AssignmentExchange {

	private @Nullable AssignmentRequest asked;

	private Roster askedRoster = Roster.EMPTY;

	private @Nullable Assignment reply;

	/** Whether the leader plans by a fallback before the reply comes. */
	private boolean fallbackDue;

	private boolean outdatedBefore;

	private @Nullable Assignment lastGood;

	private final Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

	/** {@code null} while the strategy does not fail. */
	private @Nullable MonotonicTime askAgainAt;

	boolean isAwaited() {
		return this.asked != null && !isFailing();
	}

	boolean mayAsk(MonotonicTime now) {
		return this.asked == null && (this.askAgainAt == null || !now.isBefore(this.askAgainAt));
	}

	boolean isFailing() {
		return this.askAgainAt != null;
	}

	boolean isFallbackDue() {
		return this.fallbackDue;
	}

	/** Returns when to retry a failing strategy; {@code null} if no retry is due. */
	@Nullable MonotonicTime askAgainAt() {
		return (this.asked == null) ? this.askAgainAt : null;
	}

	LeaderAction.ComputeAssignment ask(AssignmentRequest request, GroupPicture picture) {
		this.asked = request;
		this.askedRoster = picture.roster();
		this.reply = null;
		// Shards without an owner must not wait for another failure.
		this.fallbackDue = isFailing();
		return new LeaderAction.ComputeAssignment(request);
	}

	/** Ignores the reply to an older request. */
	void assignmentComputed(AssignmentRequest request, Assignment assignment) {
		if (request == this.asked) {
			this.asked = null;
			this.reply = assignment;
			this.fallbackDue = false;
			this.backoff.reset();
			this.askAgainAt = null;
		}
	}

	/** Returns whether the leader was waiting for the failed request. */
	boolean assignmentFailed(AssignmentRequest request, MonotonicTime now) {
		if (request != this.asked) {
			return false;
		}
		this.asked = null;
		this.askAgainAt = now.plus(this.backoff.next());
		return true;
	}

	boolean isAnswered() {
		return this.reply != null;
	}

	/** Returns whether the unused reply is for other members or shards. */
	boolean isOutdated(GroupPicture picture) {
		return this.reply != null
				&& (this.askedRoster != picture.roster() || this.reply.request().shards() != picture.shards());
	}

	/** Returns the assignment to plan; {@code null} when the reply cannot be used. */
	@Nullable Assignment take(GroupPicture picture, Supplier<AssignmentRequest> request) {
		boolean outdated = isOutdated(picture);
		Assignment taken = this.reply;
		this.reply = null;
		boolean usable = !outdated || this.outdatedBefore;
		this.outdatedBefore = outdated;
		if (taken == null || !usable) {
			return null;
		}
		this.lastGood = taken;
		return outdated ? FallbackAssignment.of(request.get().withTraitsOf(taken.request()), taken) : taken;
	}

	Assignment fallback(AssignmentRequest request) {
		AssignmentRequest known = (this.lastGood != null) ? request.withTraitsOf(this.lastGood.request()) : request;
		this.fallbackDue = false;
		return FallbackAssignment.of(known, this.lastGood);
	}

	void reset() {
		this.asked = null;
		this.reply = null;
		this.fallbackDue = false;
		this.outdatedBefore = false;
		this.lastGood = null;
		this.backoff.reset();
		this.askAgainAt = null;
	}

}
