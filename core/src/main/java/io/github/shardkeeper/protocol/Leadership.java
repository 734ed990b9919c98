package io.github.shardkeeper.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.protocol.LeaderEvent.ActionFailed;
import io.github.shardkeeper.protocol.LeaderEvent.AssignmentComputed;
import io.github.shardkeeper.protocol.LeaderEvent.AssignmentFailed;
import io.github.shardkeeper.directive.DirectedAssignment;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.LeaderEvent.DirectivesRead;
import io.github.shardkeeper.protocol.LeaderEvent.EndClaimsAnswered;
import io.github.shardkeeper.protocol.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.LeaderEvent.GroupRead;
import io.github.shardkeeper.protocol.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.LeaderEvent.HeartbeatFailed;
import io.github.shardkeeper.protocol.LeaderEvent.Leaving;
import io.github.shardkeeper.protocol.LeaderEvent.LoadsRead;
import io.github.shardkeeper.protocol.LeaderEvent.MovesPlanned;
import io.github.shardkeeper.protocol.LeaderEvent.PlanAnswered;
import io.github.shardkeeper.protocol.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.LeaderEvent.ReapAnswered;
import io.github.shardkeeper.protocol.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.LeaderEvent.RequestsCompleted;
import io.github.shardkeeper.protocol.LeaderEvent.SessionLost;
import io.github.shardkeeper.protocol.LeaderEvent.ListedShards;
import io.github.shardkeeper.protocol.LeaderEvent.OpenShardsListed;
import io.github.shardkeeper.protocol.LeaderEvent.ShardsChanged;
import io.github.shardkeeper.protocol.LeaderEvent.TimePassed;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The leader's machine: when to read the group, to reap dead members, and to plan. Acts
 * on events and at the earliest deadline, without a period: joins and leaves are planned
 * after a short settle time, so that those of a deployment are planned together; freed
 * shards are planned immediately. Confined to the coordinator's loop.
 */
public final class Leadership {

	/** Pause before a plan with conflicts is repeated, even without a settle time. */
	private static final Duration CONFLICT_PAUSE = Duration.ofMillis(100);

	/** Plans with conflicts in a row that make it likely that the picture is wrong. */
	private static final int SUSPICIOUS_CONFLICTS = 3;

	private static final Duration REAP_PAUSE = Duration.ofMillis(5);

	private final Duration settleTime;

	private final Planner planner;

	private final AssignmentExchange exchange = new AssignmentExchange();

	private final LoadReports loads;

	private final StoreContact contact;

	private final ClaimPeriod claims;

	private final UnattendedShards.Finder unattendedFinder;

	private final MoveDetector moves;

	private Map<String, TopicShards> ownTopics = Map.of();

	private GroupPicture picture = new GroupPicture();

	/** The last picture that was read in this leadership. */
	private GroupPicture lastRead = this.picture;

	private View view = View.NOT_LEADING;

	private boolean readDue;

	/** Whether the next answer to a heartbeat has the whole group read. */
	private boolean readAllWhenAnswered;

	private @Nullable MonotonicTime planAt;

	private @Nullable MonotonicTime reapAt;

	private @Nullable MonotonicTime pausedUntil;

	/** Plans in a row that had conflicts, since this picture was begun. */
	private int conflictingPlans;

	/** End of the pause after a plan with conflicts. */
	private @Nullable MonotonicTime conflictPauseEnds;

	/** Whether shards of dead members are still to be freed. */
	private boolean freeing;

	/** Whether moves wait for others, or are decided after them. */
	private boolean movesHeldBack;

	private Directives directives = Directives.NONE;

	/** By shard whose last move an operator has asked for, what was asked for. */
	private final Map<ShardId, Directive> asked = new HashMap<>();

	/** Requests among the directives that the assignment was asked for with. */
	private List<Directive> askedRequests = List.of();

	/** Requests that the last plan has followed, and that are to be removed. */
	private List<Directive> followedRequests = List.of();

	private long history;

	/** Highest generation seen in that history. */
	private long generationSeen;

	private @Nullable MonotonicTime readAt;

	/**
	 * Creates the machine of a member that does not lead.
	 * @param lease the time without an owner after which a shard is reported
	 * @param settleTime the time to wait for further joins and leaves after one
	 * @param loads the measurement of loads; {@code null} if the strategy ignores loads
	 */
	public Leadership(Duration heartbeatInterval, Duration lease, Duration settleTime, HandoverRules rules,
			@Nullable LoadReporting loads) {
		this.settleTime = settleTime;
		this.planner = new Planner(rules);
		this.moves = new MoveDetector(rules, this::askedBy);
		this.loads = new LoadReports(loads);
		this.contact = new StoreContact(heartbeatInterval, lease);
		this.claims = new ClaimPeriod(lease);
		this.unattendedFinder = new UnattendedShards.Finder(lease, rules.timeout());
	}

	/** Returns the actions after an event, and the next wake-up. */
	public Step<LeaderAction> handle(LeaderEvent event, MonotonicTime now) {
		List<LeaderAction> actions = new ArrayList<>();
		if (event instanceof HeartbeatAnswered answered) {
			heartbeatAnswered(answered.reply(), answered.self(), answered.sentAt(), now);
		}
		else if (event instanceof HeartbeatFailed) {
			// A failover may have lost changes that the picture contains.
			this.readAllWhenAnswered = true;
		}
		else if (event instanceof SessionLost) {
			sessionLost();
		}
		else if (event instanceof Leaving) {
			if (leads()) {
				// Its last moves are found by nobody else.
				actions.add(readGroup());
			}
		}
		else if (event instanceof ShardsChanged changed) {
			shardsChanged(changed.topics(), now);
		}
		else if (event instanceof DirectivesRead read) {
			directivesRead(read.directives(), now);
		}
		else if (event instanceof OpenShardsListed listed) {
			openShardsListed(listed.open());
		}
		else if (event instanceof MovesPlanned planned) {
			this.moves.planned(planned.reasons());
		}
		else if (event instanceof AssignmentComputed computed) {
			this.exchange.assignmentComputed(computed.request(), computed.assignment());
		}
		else if (event instanceof AssignmentFailed failed) {
			assignmentFailed(failed.request(), now);
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
			loadsRead(read.changes(), now)
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
			this.followedRequests = List.of();
			this.readDue = true;
			this.planAt = now;
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
		return this.asked.get(shard);
	}

	private @Nullable String askedBy(ShardId shard) {
		Directive directive = asked(shard);
		return (directive != null) ? directive.by() : null;
	}

	private boolean leads() {
		return this.view.leads();
	}

	private void heartbeatAnswered(HeartbeatReply.Alive reply, MemberId self, MonotonicTime sentAt, MonotonicTime now) {
		StoreContact.Finding finding = this.contact.heartbeatAnswered(reply, sentAt, now);
		this.readAllWhenAnswered |= finding == StoreContact.Finding.FORGOTTEN;
		this.claims.heartbeatAnswered(reply, finding, this.contact.sinceLastAnswer(), now);
		if (!self.equals(reply.leader())) {
			deposed();
			return;
		}
		if (reply.epoch() != this.view.epoch()) {
			elected(reply.epoch(), self, now);
		}
		else if (reply.history() != this.history) {
			// Another member has noticed lost writes.
			forgetPicture();
		}
		else if (reply.generation() < this.generationSeen && this.readAt != null && this.readAt.isBefore(sentAt)) {
			// The picture already contains the answers to heartbeats sent before it was
			// read.
			writesLost(reply.generation(), now);
		}
		if (this.readAllWhenAnswered) {
			this.readAllWhenAnswered = false;
			this.loads.readAllAgain();
			forgetPicture();
		}
		this.generationSeen = (reply.history() == this.history) ? Math.max(this.generationSeen, reply.generation())
				: reply.generation();
		this.history = reply.history();
		this.loads.told(reply.loads(), sentAt);
		this.readDue |= !this.picture.isRead() || reply.generation() > this.picture.generation()
				|| reply.membership() > this.picture.membership();
		this.reapAt = this.contact.reaches(reply.earliestLeaseEndMillis());
	}

	private void elected(long epoch, MemberId self, MonotonicTime now) {
		this.view = View.elected(epoch, self);
		this.planAt = now.plus(this.settleTime);
		this.unattendedFinder.elected(this.contact.lastStoreMillis());
		this.exchange.reset();
		this.loads.reset();
		this.moves.reset();
		forgetPicture();
	}

	private void deposed() {
		this.view = View.NOT_LEADING;
		this.asked.clear();
		this.askedRequests = List.of();
		this.followedRequests = List.of();
		this.readDue = false;
		this.planAt = null;
		this.reapAt = null;
		this.freeing = false;
		this.exchange.reset();
		this.loads.reset();
	}

	private void sessionLost() {
		deposed();
		this.claims.sessionLost();
		this.generationSeen = 0;
		this.contact.sessionLost();
	}

	private GroupPicture newPicture() {
		GroupPicture created = new GroupPicture();
		created.drain(this.directives.drained());
		return created;
	}

	private void forgetPicture() {
		this.conflictingPlans = 0;
		this.picture = newPicture();
		this.view = this.view.uninformed();
		this.readDue = true;
	}

	/** Assigns nothing until the next heartbeats of other members notice the loss. */
	private void writesLost(long generation, MonotonicTime now) {
		this.claims.writesLost(now);
		this.generationSeen = generation;
		forgetPicture();
		planBy(now);
	}

	private void shardsChanged(Map<String, TopicShards> topics, MonotonicTime now) {
		this.ownTopics = topics;
		if (leads()) {
			// Reading also finds unattended shards, if there is nothing to plan.
			this.readDue = true;
			planBy(now);
		}
	}

	private void directivesRead(Directives read, MonotonicTime now) {
		boolean rebalance = read.find(Kind.REBALANCE, "") != null
				&& !Objects.equals(read.find(Kind.REBALANCE, ""), this.directives.find(Kind.REBALANCE, ""));
		this.directives = read;
		this.picture.drain(read.drained());
		if (leads()) {
			if (rebalance) {
				forgetPicture();
			}
			planBy(now);
		}
	}

	private void requestsCompleted(RequestsCompleted answer) {
		if (!answer.leads()) {
			deposed();
			return;
		}
		for (Directive request : this.followedRequests) {
			if (request.equals(this.directives.find(request.kind(), request.subject()))) {
				this.directives = this.directives.without(request.kind(), request.subject());
			}
		}
		this.followedRequests = List.of();
	}

	private void openShardsListed(Map<String, ListedShards> listed) {
		this.unattendedFinder.listed(listed);
		if (leads() && this.view.informed() && this.picture.hasCompleted()) {
			this.view = this.view.informed(this.picture, unattended());
		}
	}

	private UnattendedShards unattended() {
		return this.unattendedFinder.find(this.picture, this.contact.lastStoreMillis(), this.contact.lastAnswered());
	}

	/** Keeps the last assignment: only shards without an owner get one. */
	private void assignmentFailed(AssignmentRequest request, MonotonicTime now) {
		if (this.exchange.assignmentFailed(request, now)) {
			this.planAt = now;
		}
	}

	private List<ShardMove> groupRead(GroupChanges changes, MonotonicTime now) {
		if (changes.generation() < this.generationSeen) {
			writesLost(changes.generation(), now);
			return List.of();
		}
		List<ShardMove> found = this.moves.groupRead(this.lastRead, changes, this.claims.endMillis() != 0,
				this.contact.storeMillis(now));
		this.readAt = now;
		this.generationSeen = changes.generation();
		boolean isFirst = !this.picture.isRead();
		if (changes.whole()) {
			this.conflictingPlans = 0;
			this.picture = newPicture();
		}
		this.picture.apply(changes);
		this.lastRead = this.picture;
		this.picture.update(this.ownTopics);
		this.readDue = false;
		if (!isFirst && changes.ownerships().stream().anyMatch(this::callsForPlan)) {
			MonotonicTime pauseEnds = this.conflictPauseEnds;
			planBy((pauseEnds != null && now.isBefore(pauseEnds)) ? pauseEnds : now);
		}
		else if (changes.members() != null) {
			// Nobody else is to get the shards that are kept for a member.
			planBy(this.picture.hasKeptShardsToAssign() ? now : now.plus(this.settleTime));
		}
		this.view = this.view.informed(this.picture, unattended());
		return found;
	}

	private boolean callsForPlan(Ownership changed) {
		return switch (changed.phase()) {
			// A completed shard frees capacity, and its children may start.
			case FREE, QUIET, COMPLETED -> true;
			case OWNED -> this.movesHeldBack;
			case REVOKING -> false;
		};
	}

	private List<String> loadsRead(LoadChanges changes, MonotonicTime now) {
		if (this.planAt == null) {
			// A plan that is due already uses them, perhaps after the settle time.
			this.planAt = now;
		}
		return this.loads.loadsRead(changes, now);
	}

	private void reaped(ReapReply reply, MonotonicTime now) {
		if (!(reply instanceof ReapReply.Looked looked)) {
			deposed();
			return;
		}
		boolean found = !looked.dead().isEmpty() || !looked.timedOut().isEmpty();
		this.reapAt = (looked.nextLookMillis() != 0) ? this.contact.reaches(looked.nextLookMillis()) : null;
		boolean more = isDue(this.reapAt, now);
		if (more && !found) {
			// Shards of dead members remain, or the store's clock was set back a little.
			this.reapAt = now.plus(REAP_PAUSE);
		}
		if (found) {
			this.moves.reaped(looked.dead());
			this.moves.reaped(looked.timedOut());
		}
		if (found || this.freeing && !more) {
			this.readDue = true;
			this.planAt = now;
		}
		this.freeing = more;
	}

	private void claimsEnded(EndClaimsReply reply, MonotonicTime now) {
		switch (reply) {
			case ENDED -> {
				this.claims.ended();
				planBy(now);
			}
			case OPEN -> this.claims.restarted(now);
			case DEPOSED -> deposed();
		}
	}

	private void planned(PlanReply reply, MonotonicTime now) {
		if (!(reply instanceof PlanReply.Applied applied)) {
			deposed();
			return;
		}
		this.readDue = true;
		if (applied.conflicts() == 0) {
			this.conflictingPlans = 0;
			return;
		}
		// Requests of operators are followed again.
		this.followedRequests = List.of();
		this.conflictPauseEnds = now.plus(CONFLICT_PAUSE);
		this.planAt = this.conflictPauseEnds;
		// Shards that have changed meanwhile are among the changes. The whole group is
		// read only if that does not help, because it takes seconds in a very large one.
		this.conflictingPlans += this.freeing ? 0 : 1;
		if (this.conflictingPlans == SUSPICIOUS_CONFLICTS) {
			forgetPicture();
		}
	}

	/** Returns the one action that is due; {@code null} for none. */
	private @Nullable LeaderAction next(MonotonicTime now) {
		if (!leads() || !isDue(this.pausedUntil, now) && this.pausedUntil != null) {
			return null;
		}
		this.pausedUntil = null;
		if (this.readDue) {
			return readGroup();
		}
		if (!this.contact.isRecent(now)) {
			// The store may be unavailable: the next answer ends the wait.
			waitForContact(now);
		}
		if (isDue(this.claims.endsAt(), now)) {
			return new LeaderAction.EndClaims(this.view.epoch(), this.claims.endMillis());
		}
		if (isDue(this.reapAt, now)) {
			return new LeaderAction.ReapDeadMembers(this.view.epoch(), this.contact.steadyTime(now));
		}
		if (this.loads.isLookDue(now)) {
			long version = this.loads.look(now);
			if (version >= 0) {
				return new LeaderAction.ReadLoads(version);
			}
			planBy(now);
		}
		return nextPlan(now);
	}

	private LeaderAction readGroup() {
		return new LeaderAction.ReadGroup(this.picture.generation(), this.picture.membership());
	}

	private void waitForContact(MonotonicTime now) {
		if (isDue(this.reapAt, now)) {
			this.reapAt = null;
		}
		if (isDue(this.claims.endsAt(), now)) {
			this.claims.storeUnavailable();
		}
	}

	private @Nullable LeaderAction nextPlan(MonotonicTime now) {
		if (!this.followedRequests.isEmpty()) {
			return new LeaderAction.CompleteRequests(this.view.epoch(), this.followedRequests);
		}
		if (this.exchange.isAnswered()) {
			if (this.exchange.isOutdated(this.picture) && this.planAt == null) {
				this.planAt = now;
			}
			Assignment answer = this.exchange.take(this.picture, () -> request(now));
			if (answer != null) {
				return plan(answer, now);
			}
		}
		if (isDue(this.planAt, now) && this.exchange.mayAsk(now)) {
			this.planAt = null;
			this.askedRequests = this.directives.requests();
			return this.exchange.ask(request(now), this.picture);
		}
		if (this.exchange.isFallbackDue() || isDue(this.planAt, now) && this.exchange.isFailing()) {
			this.planAt = null;
			return plan(this.exchange.fallback(request(now)), now);
		}
		return null;
	}

	private AssignmentRequest request(MonotonicTime now) {
		this.picture.update(this.ownTopics);
		this.picture.timePassed(this.contact.storeMillis(now));
		return this.planner.request(this.picture, this.loads, this.directives, this.contact.storeMillis(now));
	}

	private @Nullable LeaderAction plan(Assignment answer, MonotonicTime now) {
		DirectedAssignment directed = Planner.direct(answer, this.picture, this.directives);
		Assignment assignment = directed.assignment();
		this.view = this.view.planned(assignment);
		Planner.Plan plan = this.planner.plan(this.picture, assignment, this.contact.storeMillis(now),
				this.claims.assignableMillis(now, this.contact));
		if (plan.nextMillis() != 0) {
			planBy(this.contact.at(plan.nextMillis()));
		}
		MonotonicTime askAgainAt = this.exchange.askAgainAt();
		if (askAgainAt != null) {
			planBy(askAgainAt);
		}
		this.movesHeldBack = plan.movesHeldBack() || assignment.isUnfinished();
		if (!plan.movesHeldBack()) {
			// While others wait, the balance would move the shard straight back.
			this.followedRequests = this.askedRequests;
			this.askedRequests = List.of();
		}
		for (Transition transition : plan.transitions()) {
			Directive by = directed.asked().get(transition.shard());
			if (by != null) {
				this.asked.put(transition.shard(), by);
			}
			else {
				this.asked.remove(transition.shard());
			}
		}
		if (!plan.transitions().isEmpty()) {
			return new LeaderAction.ApplyPlan(this.view.epoch(), plan.transitions());
		}
		return this.followedRequests.isEmpty() ? null
				: new LeaderAction.CompleteRequests(this.view.epoch(), this.followedRequests);
	}

	private void planBy(MonotonicTime time) {
		this.planAt = MonotonicTime.earliestOf(this.planAt, time);
	}

	private @Nullable MonotonicTime wakeAt() {
		if (!leads()) {
			return null;
		}
		if (this.pausedUntil != null) {
			return this.pausedUntil;
		}
		MonotonicTime plansAt = this.exchange.isAwaited() ? null : this.planAt;
		return MonotonicTime.earliestOf(this.reapAt, this.claims.endsAt(), plansAt, this.loads.lookAt());
	}

	private static boolean isDue(@Nullable MonotonicTime time, MonotonicTime now) {
		return time != null && !now.isBefore(time);
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

		/** Returns whether the last answer names this member as the leader. */
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

		private View planned(Assignment by) {
			return new View(this.epoch, this.self, this.informed, this.hasSuccessor, this.unattended,
					this.withoutComparableVersion, by);
		}

	}

}
