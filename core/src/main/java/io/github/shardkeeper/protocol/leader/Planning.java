package io.github.shardkeeper.protocol.leader;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.directive.DirectedAssignment;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * When the leader plans, and what: it has an assignment computed for the known group and
 * turns it into transitions. Joins and leaves are planned after a short settle time,
 * freed shards immediately, a plan that had conflicts after a pause. Confined to the
 * coordinator's loop.
 */
final class Planning {

	private final LeaderTerm term;

	private final KnownGroup group;

	private final Requests requests;

	private final Planner planner;

	private final Duration settleTime;

	private final AssignmentExchange exchange = new AssignmentExchange();

	private final PlanConflicts conflicts = new PlanConflicts();

	private @Nullable MonotonicTime planAt;

	/** Whether moves wait for others, or are decided after them. */
	private boolean movesHeldBack;

	/** Assignment of the last plan; {@code null} before the first one. */
	private @Nullable Assignment assignment;

	Planning(LeaderTerm term, KnownGroup group, Requests requests, HandoverRules rules, Duration settleTime) {
		this.term = term;
		this.group = group;
		this.requests = requests;
		this.planner = new Planner(rules);
		this.settleTime = settleTime;
	}

	void elected(MonotonicTime now) {
		this.exchange.reset();
		this.assignment = null;
		this.planAt = now.plus(this.settleTime);
	}

	void deposed() {
		this.exchange.reset();
		this.assignment = null;
		this.planAt = null;
	}

	@Nullable Assignment assignment() {
		return this.assignment;
	}

	/** Plans at a time, unless a plan is due before. */
	void planBy(MonotonicTime time) {
		this.planAt = MonotonicTime.earliestOf(this.planAt, time);
	}

	/** Plans now, also if a later time was agreed on. */
	void planNow(MonotonicTime now) {
		this.planAt = now;
	}

	/** Notes that the next plan is for a new picture. */
	void pictureForgotten() {
		this.conflicts.forget();
	}

	/**
	 * Plans because of changes.
	 * @param first whether they are the first of their picture
	 */
	void changesRead(GroupChanges changes, boolean first, MonotonicTime now) {
		if (changes.whole()) {
			this.conflicts.forget();
		}
		if (!first && changes.ownerships().stream().anyMatch(this::callsForPlan)) {
			planBy(this.conflicts.pausedUntil(now));
		}
		else if (changes.members() != null) {
			// Nobody else is to get the shards that are kept for a member.
			planBy(this.group.picture().hasKeptShardsToAssign() ? now : now.plus(this.settleTime));
		}
	}

	private boolean callsForPlan(Ownership changed) {
		return switch (changed.phase()) {
			// A completed shard frees capacity, and its children may start.
			case FREE, QUIET, COMPLETED -> true;
			case OWNED -> this.movesHeldBack;
			case REVOKING -> false;
		};
	}

	void loadsRead(MonotonicTime now) {
		if (this.planAt == null) {
			// A plan that is due already uses them, perhaps after the settle time.
			this.planAt = now;
		}
	}

	void assignmentComputed(LeaderEvent.AssignmentComputed computed) {
		this.exchange.assignmentComputed(computed.request(), computed.assignment());
	}

	/** Keeps the last assignment: only shards without an owner get one. */
	void assignmentFailed(AssignmentRequest request, MonotonicTime now) {
		if (this.exchange.assignmentFailed(request, now)) {
			this.planAt = now;
		}
	}

	/**
	 * Repeats a plan that had conflicts after a pause.
	 * @return whether it has them so often that the picture is likely wrong
	 */
	boolean planned(PlanReply.Applied applied, MonotonicTime now) {
		if (applied.conflicts() == 0) {
			this.conflicts.forget();
			return false;
		}
		this.requests.repeat();
		this.planAt = this.conflicts.found(this.term.isFreeing(), now);
		return this.conflicts.isSuspicious();
	}

	/** Returns the action that is due; {@code null} for none. */
	@Nullable LeaderAction next(MonotonicTime now) {
		if (this.group.loads().isLookDue(now)) {
			long version = this.group.loads().look(now);
			if (version >= 0) {
				return new LeaderAction.ReadLoads(version);
			}
			planBy(now);
		}
		if (!this.requests.followed().isEmpty()) {
			return completeRequests();
		}
		if (this.exchange.isAnswered()) {
			if (this.exchange.isOutdated(this.group.picture()) && this.planAt == null) {
				this.planAt = now;
			}
			Assignment reply = this.exchange.take(this.group.picture(), () -> request(now));
			if (reply != null) {
				return plan(reply, now);
			}
		}
		if (MonotonicTime.isReached(this.planAt, now) && this.exchange.mayAsk(now)) {
			this.planAt = null;
			this.requests.submit();
			return this.exchange.ask(request(now), this.group.picture());
		}
		if (this.exchange.isFallbackDue() || MonotonicTime.isReached(this.planAt, now) && this.exchange.isFailing()) {
			this.planAt = null;
			return plan(this.exchange.fallback(request(now)), now);
		}
		return null;
	}

	private AssignmentRequest request(MonotonicTime now) {
		long storeMillis = this.term.continuity().storeMillis(now);
		return this.planner.request(this.group.pictureAt(storeMillis), this.group.loads(), this.requests.directives(),
				storeMillis);
	}

	private @Nullable LeaderAction plan(Assignment reply, MonotonicTime now) {
		GroupPicture picture = this.group.picture();
		DirectedAssignment directed = Planner.direct(reply, picture, this.requests.directives());
		Assignment planned = directed.assignment();
		this.assignment = planned;
		StoreContinuity continuity = this.term.continuity();
		Planner.Plan plan = this.planner.plan(picture, planned, continuity.storeMillis(now),
				this.term.assignableMillis(now));
		if (plan.nextMillis() != 0) {
			planBy(continuity.at(plan.nextMillis()));
		}
		MonotonicTime askAgainAt = this.exchange.askAgainAt();
		if (askAgainAt != null) {
			planBy(askAgainAt);
		}
		this.movesHeldBack = plan.movesHeldBack() || planned.isUnfinished();
		if (!plan.movesHeldBack()) {
			// While others wait, the balance would move the shard straight back.
			this.requests.follow();
		}
		this.requests.planned(plan.transitions(), directed.asked());
		if (!plan.transitions().isEmpty()) {
			return new LeaderAction.ApplyPlan(this.term.epoch(), plan.transitions());
		}
		return this.requests.followed().isEmpty() ? null : completeRequests();
	}

	private LeaderAction completeRequests() {
		return new LeaderAction.CompleteRequests(this.term.epoch(), this.requests.followed());
	}

	@Nullable MonotonicTime wakeAt() {
		return MonotonicTime.earliestOf(this.exchange.isAwaited() ? null : this.planAt, this.group.loads().lookAt());
	}

}
