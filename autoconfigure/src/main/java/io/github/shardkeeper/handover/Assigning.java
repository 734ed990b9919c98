package io.github.shardkeeper.handover;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.StandIn;

/**
 * A leader's dealings with a strategy that takes its time and may fail: what it was
 * asked, what it answered last, when it may be asked again.
 * <p>
 * <b>An answer that was overtaken</b>, because members came or went or the shards are
 * others than those it was asked about, is not used, and the strategy is asked again. If
 * that happens again, the answer is used as far as it still holds, before the next
 * question: a slow strategy in a busy group is late, but does not starve.
 * <p>
 * <b>While it fails</b>, its last good answer stands, see {@link StandIn}, and it is
 * asked again after a pause that grows from 1 s to 30 s.
 * <p>
 * Not thread-safe: confined to the coordinator's loop.
 */
final class Assigning {

	private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

	private @Nullable AssignmentRequest asked;

	/** The members that it was asked about. */
	private Roster askedRoster = Roster.EMPTY;

	/** What was answered and not used yet. */
	private @Nullable Assignment answer;

	/** Whether a stand-in is to be planned by before the answer comes. */
	private boolean standInDue;

	private boolean overtakenBefore;

	private @Nullable Assignment lastGood;

	/** What was planned by last. */
	private @Nullable Assignment inForce;

	private Duration pause = Duration.ZERO;

	/** {@code null} while it does not fail. */
	private @Nullable MonotonicTime askAgainAt;

	/** Whether nothing is planned before the answer comes. */
	boolean isAwaited() {
		return this.asked != null && !isFailing();
	}

	boolean mayAsk(MonotonicTime now) {
		return this.asked == null && (this.askAgainAt == null || !now.isBefore(this.askAgainAt));
	}

	/** Whether the last answer that came, or did not, was none. */
	boolean isFailing() {
		return this.askAgainAt != null;
	}

	boolean isStandInDue() {
		return this.standInDue;
	}

	/**
	 * When to ask a strategy again that fails; {@code null} for one that does not, or is
	 * being asked.
	 */
	@Nullable MonotonicTime askAgainAt() {
		return (this.asked == null) ? this.askAgainAt : null;
	}

	LeaderAction.ComputeAssignment ask(AssignmentRequest request, GroupPicture picture) {
		this.asked = request;
		this.askedRoster = picture.roster();
		this.answer = null;
		// If it fails again, shards without an owner need not wait for that.
		this.standInDue = isFailing();
		return new LeaderAction.ComputeAssignment(request);
	}

	/** An answer came. One that nobody waits for any more is ignored. */
	void answered(AssignmentRequest request, Assignment assignment) {
		if (request == this.asked) {
			this.asked = null;
			this.answer = assignment;
			this.standInDue = false;
			this.pause = Duration.ZERO;
			this.askAgainAt = null;
		}
	}

	/**
	 * No answer will come.
	 * @return whether it was waited for
	 */
	boolean failed(AssignmentRequest request, MonotonicTime now) {
		if (request != this.asked) {
			return false;
		}
		this.asked = null;
		Duration doubled = this.pause.multipliedBy(2);
		this.pause = this.pause.isZero() ? FIRST_PAUSE
				: (doubled.compareTo(LONGEST_PAUSE) < 0) ? doubled : LONGEST_PAUSE;
		this.askAgainAt = now.plus(this.pause);
		return true;
	}

	boolean isAnswered() {
		return this.answer != null;
	}

	/** Whether the group is not any more what the unused answer is about. */
	boolean isOvertaken(GroupPicture picture) {
		return this.answer != null
				&& (this.askedRoster != picture.roster() || this.answer.request().shards() != picture.shards());
	}

	/**
	 * Uses the answer.
	 * @param picture the group as it is now
	 * @param request asks for the group as it is now
	 * @return what to plan by; {@code null} when there is no answer that can be used
	 */
	@Nullable Assignment take(GroupPicture picture, Supplier<AssignmentRequest> request) {
		boolean overtaken = isOvertaken(picture);
		Assignment taken = this.answer;
		this.answer = null;
		boolean usable = !overtaken || this.overtakenBefore;
		this.overtakenBefore = overtaken;
		if (taken == null || !usable) {
			return null;
		}
		this.lastGood = taken;
		this.inForce = overtaken ? StandIn.of(request.get().withTraitsOf(taken.request()), taken) : taken;
		return this.inForce;
	}

	/** What to plan by while the strategy fails. */
	Assignment standIn(AssignmentRequest request) {
		AssignmentRequest known = (this.lastGood != null) ? request.withTraitsOf(this.lastGood.request()) : request;
		Assignment standIn = StandIn.of(known, this.lastGood);
		this.inForce = standIn;
		this.standInDue = false;
		return standIn;
	}

	/** What was planned by last, {@code null} for nothing yet. */
	@Nullable Assignment inForce() {
		return this.inForce;
	}

	/** Another leadership begins, or this one ends. */
	void forget() {
		this.asked = null;
		this.answer = null;
		this.standInDue = false;
		this.overtakenBefore = false;
		this.lastGood = null;
		this.inForce = null;
		this.pause = Duration.ZERO;
		this.askAgainAt = null;
	}

}
