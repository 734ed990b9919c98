package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ActionFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.AssignmentFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.DirectivesRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatFailed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.Leaving;
import io.github.shardkeeper.protocol.leader.LeaderEvent.LoadsRead;
import io.github.shardkeeper.protocol.leader.LeaderEvent.MovesPlanned;
import io.github.shardkeeper.protocol.leader.LeaderEvent.OpenShardsListed;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.RequestsCompleted;
import io.github.shardkeeper.protocol.leader.LeaderEvent.SessionLost;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ShardsChanged;
import io.github.shardkeeper.protocol.leader.LeaderEvent.TimePassed;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The leader's machine: composed of its {@link LeaderTerm}, the {@link KnownGroup}, the
 * {@link Requests} of operators, and {@link Planning}. Acts on events and at the earliest
 * deadline, without a period; returns one action that calls the store at a time, the most
 * urgent one. Confined to the coordinator's loop.
 */
public final class Leadership {

	private final LeaderTerm term;

	private final KnownGroup group;

	private final Requests requests = new Requests();

	private final Planning planning;

	private View view = View.NOT_LEADING;

	private @Nullable MonotonicTime pausedUntil;

	/**
	 * Creates the machine of a member that does not lead.
	 * @param lease the time without an owner after which a shard is reported
	 * @param settleTime the time to wait for further joins and leaves after one
	 * @param loads the measurement of loads; {@code null} if the strategy ignores loads
	 */
	public Leadership(Duration heartbeatInterval, Duration lease, Duration settleTime, HandoverRules rules,
			@Nullable LoadReporting loads) {
		this.term = new LeaderTerm(heartbeatInterval, lease);
		this.group = new KnownGroup(lease, rules, this.requests, loads);
		this.planning = new Planning(this.term, this.group, this.requests, rules, settleTime);
	}

	/** Returns the actions after an event, and the next wake-up. */
	public Step<LeaderAction> handle(LeaderEvent event, MonotonicTime now) {
		List<LeaderAction> actions = new ArrayList<>();
		if (event instanceof HeartbeatAnswered answered) {
			heartbeatAnswered(answered, now);
		}
		else if (event instanceof HeartbeatFailed) {
			this.term.heartbeatFailed();
		}
		else if (event instanceof SessionLost) {
			deposed();
			this.term.sessionLost();
		}
		else if (event instanceof Leaving) {
			if (leads()) {
				// Its last moves are found by nobody else.
				actions.add(this.group.read());
			}
		}
		else if (event instanceof ShardsChanged changed) {
			shardsChanged(changed, now);
		}
		else if (event instanceof DirectivesRead read) {
			directivesRead(read, now);
		}
		else if (event instanceof OpenShardsListed listed) {
			openShardsListed(listed);
		}
		else if (event instanceof MovesPlanned planned) {
			this.group.movesPlanned(planned);
		}
		else if (event instanceof AssignmentComputed computed) {
			this.planning.assignmentComputed(computed);
		}
		else if (event instanceof AssignmentFailed failed) {
			this.planning.assignmentFailed(failed.request(), now);
		}
		else {
			answered(event, now, actions);
			LeaderAction next = next(now);
			if (next != null) {
				actions.add(next);
			}
		}
		return new Step<>(actions, wakeAt());
	}

	private void answered(LeaderEvent event, MonotonicTime now, List<LeaderAction> actions) {
		if (event instanceof GroupRead read) {
			List<ShardMove> found = groupRead(read.changes(), now);
			if (!found.isEmpty()) {
				actions.add(new LeaderAction.RecordMoves(found));
			}
		}
		else if (event instanceof LoadsRead read) {
			this.planning.loadsRead(now);
			this.group.loads()
				.loadsRead(read.changes(), now)
				.forEach((warning) -> actions.add(new LeaderAction.WarnOfLoadReport(warning)));
		}
		else if (event instanceof ReapAnswered answered) {
			reaped(answered.reply(), now);
		}
		else if (event instanceof EndClaimsAnswered answered) {
			claimsEnded(answered.reply(), now);
		}
		else if (event instanceof PlanAnswered answered) {
			planned(answered.reply(), now);
		}
		else if (event instanceof RequestsCompleted completed) {
			requestsCompleted(completed);
		}
		else if (event instanceof ActionFailed failed) {
			this.pausedUntil = now.plus(failed.pause());
			this.requests.repeat();
			this.group.readChanges();
			this.planning.planNow(now);
		}
		else if (!(event instanceof TimePassed)) {
			throw new IllegalArgumentException(event.toString());
		}
	}

	/** Returns the knowledge of the leader; {@link View#NOT_LEADING} for others. */
	public View view() {
		return this.view;
	}

	/**
	 * {@return what an operator has asked for, if that is why this leader has moved a
	 * shard last; {@code null} otherwise}
	 */
	@Nullable Directive asked(ShardId shard) {
		return this.requests.asked(shard);
	}

	private boolean leads() {
		return this.term.leads();
	}

	private void heartbeatAnswered(HeartbeatAnswered event, MonotonicTime now) {
		HeartbeatReply.Alive reply = event.reply();
		switch (this.term.heartbeatAnswered(reply, event.self(), event.sentAt(), now)) {
			case DEPOSED -> {
				deposed();
				return;
			}
			case ELECTED -> elected(event.self(), now);
			case PICTURE_OUTDATED -> forgetPicture();
			case WRITES_LOST -> writesLost(now);
			case LEADS -> {
			}
		}
		if (this.term.takeLossSuspected()) {
			this.group.loads().readAllAgain();
			forgetPicture();
		}
		this.group.heartbeatAnswered(reply, event.sentAt());
	}

	private void elected(MemberId self, MonotonicTime now) {
		this.view = View.elected(this.term.epoch(), self);
		this.group.elected(this.term.continuity().lastStoreMillis());
		this.planning.elected(now);
		forgetPicture();
	}

	private void deposed() {
		this.view = View.NOT_LEADING;
		this.term.deposed();
		this.group.deposed();
		this.requests.deposed();
		this.planning.deposed();
	}

	private void forgetPicture() {
		this.planning.pictureForgotten();
		this.group.forget();
		this.view = this.view.uninformed();
	}

	private void writesLost(MonotonicTime now) {
		forgetPicture();
		this.planning.planBy(now);
	}

	private void shardsChanged(ShardsChanged changed, MonotonicTime now) {
		this.group.shardsChanged(changed.topics());
		if (leads()) {
			// Reading also finds unattended shards, if there is nothing to plan.
			this.group.readChanges();
			this.planning.planBy(now);
		}
	}

	private void directivesRead(DirectivesRead read, MonotonicTime now) {
		boolean rebalance = this.requests.read(read.directives());
		this.group.drain(read.directives().drained());
		if (leads()) {
			if (rebalance) {
				forgetPicture();
			}
			this.planning.planBy(now);
		}
	}

	private void openShardsListed(OpenShardsListed listed) {
		this.group.listed(listed.open());
		if (leads() && this.view.informed() && this.group.picture().hasCompleted()) {
			inform();
		}
	}

	private void inform() {
		this.view = this.view.informed(this.group.picture(), this.group.unattended(this.term.continuity()));
	}

	private List<ShardMove> groupRead(GroupChanges changes, MonotonicTime now) {
		if (!this.term.groupRead(changes.generation(), now)) {
			writesLost(now);
			return List.of();
		}
		boolean first = !this.group.picture().isRead();
		List<ShardMove> found = this.group.changesRead(changes, this.term.isClaiming(),
				this.term.continuity().storeMillis(now));
		this.planning.changesRead(changes, first, now);
		inform();
		return found;
	}

	private void reaped(ReapReply reply, MonotonicTime now) {
		if (!(reply instanceof ReapReply.Looked looked)) {
			deposed();
			return;
		}
		this.group.reaped(looked);
		if (this.term.reaped(looked, now)) {
			this.group.readChanges();
			this.planning.planNow(now);
		}
	}

	private void claimsEnded(EndClaimsReply reply, MonotonicTime now) {
		if (reply == EndClaimsReply.DEPOSED) {
			deposed();
		}
		else if (this.term.claimsEnded(reply, now)) {
			this.planning.planBy(now);
		}
	}

	private void planned(PlanReply reply, MonotonicTime now) {
		if (!(reply instanceof PlanReply.Applied applied)) {
			deposed();
			return;
		}
		this.group.readChanges();
		if (this.planning.planned(applied, now)) {
			forgetPicture();
		}
	}

	private void requestsCompleted(RequestsCompleted completed) {
		if (completed.leads()) {
			this.requests.completed();
		}
		else {
			deposed();
		}
	}

	/** Returns the one action that is due; {@code null} for none. */
	private @Nullable LeaderAction next(MonotonicTime now) {
		if (!leads() || this.pausedUntil != null && now.isBefore(this.pausedUntil)) {
			return null;
		}
		this.pausedUntil = null;
		if (this.group.isReadDue()) {
			return this.group.read();
		}
		LeaderAction due = this.term.next(now);
		return (due != null) ? due : plan(now);
	}

	private @Nullable LeaderAction plan(MonotonicTime now) {
		LeaderAction due = this.planning.next(now);
		Assignment planned = this.planning.assignment();
		if (planned != this.view.assignment()) {
			this.view = this.view.planned(planned);
		}
		return due;
	}

	private @Nullable MonotonicTime wakeAt() {
		if (!leads()) {
			return null;
		}
		return (this.pausedUntil != null) ? this.pausedUntil
				: MonotonicTime.earliestOf(this.term.wakeAt(), this.planning.wakeAt());
	}

	/**
	 * The published knowledge of a leader. Immutable.
	 *
	 * @param epoch the number of the leadership; 0 if the member does not lead
	 * @param self the leader; {@code null} if the member does not lead
	 * @param informed whether it has read the group, so that it can report problems
	 * @param hasSuccessor whether another member could lead
	 * @param unattended the unattended shards when it read the group
	 * @param withoutComparableVersion the members that get no shards, because their
	 * version cannot be compared and that of others can
	 * @param assignment the assignment of the last plan, with the reasons; {@code null}
	 * before the first plan
	 */
	public record View(long epoch, @Nullable MemberId self, boolean informed, boolean hasSuccessor,
			UnattendedShards unattended, List<MemberId> withoutComparableVersion, @Nullable Assignment assignment) {

		static final View NOT_LEADING = elected(0, null);

		private static View elected(long epoch, @Nullable MemberId self) {
			return new View(epoch, self, false, false, UnattendedShards.NONE, List.of(), null);
		}

		/** Returns whether the last reply names this member as the leader. */
		public boolean leads() {
			return this.epoch != 0;
		}

		private View uninformed() {
			return new View(this.epoch, this.self, false, false, this.unattended, this.withoutComparableVersion,
					this.assignment);
		}

		private View informed(GroupPicture picture, UnattendedShards found) {
			boolean successor = picture.members()
				.stream()
				.anyMatch((member) -> !member.leaving() && !member.id().equals(this.self));
			return new View(this.epoch, this.self, true, successor, found, picture.withoutComparableVersion(),
					this.assignment);
		}

		private View planned(@Nullable Assignment by) {
			return new View(this.epoch, this.self, this.informed, this.hasSuccessor, this.unattended,
					this.withoutComparableVersion, by);
		}

	}

}
