package io.github.shardkeeper.handover;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The leader's half of the protocol: when to read the group, when to look for dead
 * members, when to plan. It acts on events and at the earliest deadline, not on a period:
 * joins and leaves after a short settle time, so that a deployment's many are planned
 * together; freed shards at once.
 * <p>
 * The driver feeds events in and asks {@link #next} until there is nothing more to do.
 * Not thread-safe: confined to the coordinator's loop.
 */
public final class Leadership {

	/** Before planning anew what did not fit; also where no settle time is wanted. */
	private static final Duration CONFLICT_PAUSE = Duration.ofMillis(100);

	private static final Duration LOOK_PAUSE = Duration.ofMillis(5);

	private final Duration settleTime;

	private final Planner planner;

	private final Assigning assigning = new Assigning();

	private final LoadReports loads;

	private final Steadiness steadiness;

	private final Duration lease;

	private final HandoverRules rules;

	private GroupPicture picture = new GroupPicture();

	private long epoch;

	private boolean pictureIsNew;

	private boolean pictureDistrusted;

	private boolean refreshDue;

	private @Nullable MonotonicTime planAt;

	private @Nullable MonotonicTime lookAt;

	private @Nullable MonotonicTime pausedUntil;

	private long claimsUntilMillis;

	/**
	 * When it may end by this process' clock: the store's may be put forward meanwhile.
	 */
	private @Nullable MonotonicTime claimsUntil;

	/** Whether the last answer was not too long ago when it could have ended. */
	private boolean claimsWatched;

	/** Whether there are moves that wait for others, or are decided after them. */
	private boolean movesHeldBack;

	private UnattendedShards unattended = UnattendedShards.NONE;

	private List<MemberId> withoutComparableVersion = List.of();

	private long history;

	/** The highest that was seen in that history. */
	private long generationSeen;

	/** When the picture was read last. */
	private @Nullable MonotonicTime readAt;

	/** Until when an owner that the store does not know may still consume. */
	private @Nullable MonotonicTime suspectUntil;

	private Duration longestLease;

	private final Arrivals arrivals = new Arrivals();

	private final Strangers strangers = new Strangers();

	private long lastServerMillis;

	private MonotonicTime lastAnswered = new MonotonicTime(0);

	/**
	 * Creates the machine of a member that does not lead yet.
	 * @param heartbeatInterval how often the member beats
	 * @param lease how long a shard may have no owner until that is told
	 * @param settleTime how long to wait for further joins and leaves after one
	 * @param rules how shards change hands
	 * @param ownTopics the member's topics with the shards that its source knows now
	 * @param loads how loads are measured, {@code null} when the strategy does not look
	 * at them
	 */
	public Leadership(Duration heartbeatInterval, Duration lease, Duration settleTime, HandoverRules rules,
			Supplier<Map<String, TopicShards>> ownTopics, @Nullable LoadReporting loads) {
		this.loads = new LoadReports(loads);
		this.lease = lease;
		this.longestLease = lease;
		this.settleTime = settleTime;
		this.rules = rules;
		this.planner = new Planner(rules, ownTopics);
		this.steadiness = new Steadiness(heartbeatInterval, lease);
	}

	/**
	 * A heartbeat was answered.
	 * @param reply the answer
	 * @param self this member
	 * @param sentAt when the heartbeat was sent
	 * @param now when it was answered
	 */
	public void heartbeatAnswered(HeartbeatReply.Alive reply, MemberId self, MonotonicTime sentAt, MonotonicTime now) {
		// An owner with a longer lease may not have heard of anything yet.
		this.longestLease = Duration.ofMillis(Math.max(this.lease.toMillis(), reply.longestLeaseMillis()));
		Steadiness.Finding finding = this.steadiness.answered(reply, sentAt, now);
		if (finding == Steadiness.Finding.FORGOTTEN) {
			// A restart on an old snapshot may be over between two heartbeats.
			this.suspectUntil = now.plus(this.longestLease);
			this.pictureDistrusted = true;
		}
		watchClaims(reply, finding, now);
		this.lastServerMillis = reply.serverTimeMillis();
		this.lastAnswered = now;
		if (!self.equals(reply.leader())) {
			deposed();
			return;
		}
		if (reply.epoch() != this.epoch) {
			this.epoch = reply.epoch();
			this.planAt = now.plus(this.settleTime);
			this.arrivals.begin(reply.serverTimeMillis());
			this.strangers.forget();
			this.assigning.forget();
			this.loads.forget();
			forgetPicture();
		}
		else if (reply.history() != this.history) {
			// The store has lost writes, and somebody has noticed.
			forgetPicture();
		}
		else if (reply.generation() < this.generationSeen && this.readAt != null && this.readAt.isBefore(sentAt)) {
			// Only an answer to what was sent after the picture was read: others had to
			// wait for their turn, and tell what is in it.
			writesLost(reply.generation(), now);
		}
		if (this.pictureDistrusted) {
			this.pictureDistrusted = false;
			this.loads.readAllAgain();
			forgetPicture();
		}
		this.generationSeen = (reply.history() == this.history) ? Math.max(this.generationSeen, reply.generation())
				: reply.generation();
		this.history = reply.history();
		this.loads.told(reply.loads(), sentAt);
		this.refreshDue |= this.pictureIsNew || reply.generation() > this.picture.generation()
				|| reply.membership() > this.picture.membership();
		this.lookAt = this.steadiness.reaches(reply.earliestLeaseEndMillis());
	}

	private void watchClaims(HeartbeatReply.Alive reply, Steadiness.Finding finding, MonotonicTime now) {
		boolean wasOpen = this.claimsUntilMillis != 0;
		MonotonicTime before = this.claimsUntil;
		this.claimsUntilMillis = reply.claimsUntilMillis();
		this.claimsWatched = true;
		if (this.claimsUntilMillis == 0) {
			return;
		}
		MonotonicTime whole = now.plus(this.longestLease);
		this.claimsUntil = latest(before,
				now.plus(Duration.ofMillis(this.claimsUntilMillis - reply.serverTimeMillis())));
		if (finding == Steadiness.Finding.GAP && wasOpen && before != null) {
			// The store may have been away, and nobody could claim.
			MonotonicTime later = before.plus(this.lastAnswered.until(now));
			this.claimsUntil = latest(this.claimsUntil, earliest(later, whole));
		}
		else if (finding != Steadiness.Finding.STEADY) {
			// The store's clock may have stepped over a part of it.
			this.claimsUntil = latest(this.claimsUntil, whole);
		}
	}

	/**
	 * A heartbeat was not answered. Perhaps there was a failover, and what the picture
	 * shows is lost though nobody was told of it: the next answer has the group read
	 * anew.
	 */
	public void heartbeatFailed() {
		this.pictureDistrusted = true;
	}

	private void forgetPicture() {
		this.picture = new GroupPicture();
		this.pictureIsNew = true;
		this.refreshDue = true;
	}

	/**
	 * The session is over, or the store said that somebody else leads.
	 */
	public void deposed() {
		this.epoch = 0;
		this.refreshDue = false;
		this.planAt = null;
		this.lookAt = null;
		this.unattended = UnattendedShards.NONE;
		this.withoutComparableVersion = List.of();
		this.assigning.forget();
		this.loads.forget();
	}

	/**
	 * The member begins a new session: what it saw before says nothing about others.
	 */
	public void sessionLost() {
		deposed();
		this.suspectUntil = null;
		this.generationSeen = 0;
		this.steadiness.restart();
	}

	public boolean leads() {
		return this.epoch != 0;
	}

	/**
	 * The number of the leadership.
	 * @return 0 for who does not lead
	 */
	public long epoch() {
		return this.epoch;
	}

	/**
	 * Whether this leader knows the group, so that it can tell what is wrong with it.
	 * @return whether it has read the group since it began to lead
	 */
	public boolean isInformed() {
		return leads() && !this.pictureIsNew;
	}

	/**
	 * Says what is due.
	 * @param now the time
	 * @return the action, or {@code null} when nothing is due
	 */
	public @Nullable LeaderAction next(MonotonicTime now) {
		if (!leads() || !isDue(this.pausedUntil, now) && this.pausedUntil != null) {
			return null;
		}
		this.pausedUntil = null;
		if (this.refreshDue) {
			return new LeaderAction.Refresh(this.picture.generation(), this.picture.membership());
		}
		if (isDue(this.lookAt, now) && !this.steadiness.isRecent(now)) {
			// Perhaps the store is away: the next answer tells when to look.
			this.lookAt = null;
		}
		if (isDue(claimsEndAt(), now) && !this.steadiness.isRecent(now)) {
			// Perhaps the store is away, and nobody can claim: likewise.
			this.claimsWatched = false;
		}
		if (isDue(claimsEndAt(), now)) {
			return new LeaderAction.EndClaims(this.epoch, this.claimsUntilMillis);
		}
		if (isDue(this.lookAt, now)) {
			return new LeaderAction.LookForDead(this.epoch, this.steadiness.at(now));
		}
		if (this.loads.isLookDue(now)) {
			long version = this.loads.look(now);
			if (version >= 0) {
				return new LeaderAction.ReadLoads(version);
			}
			planBy(now);
		}
		if (this.assigning.isAnswered()) {
			if (this.assigning.isOvertaken(this.picture) && this.planAt == null) {
				this.planAt = now;
			}
			Assignment answer = this.assigning.take(this.picture, () -> request(now));
			if (answer != null) {
				return plan(answer, now);
			}
		}
		if (isDue(this.planAt, now) && this.assigning.mayAsk(now)) {
			this.planAt = null;
			return this.assigning.ask(request(now), this.picture);
		}
		if (this.assigning.isStandInDue() || isDue(this.planAt, now) && this.assigning.isFailing()) {
			this.planAt = null;
			return plan(this.assigning.standIn(request(now)), now);
		}
		return null;
	}

	private AssignmentRequest request(MonotonicTime now) {
		return this.planner.request(this.picture, this.loads, serverMillis(now));
	}

	private @Nullable LeaderAction plan(Assignment assignment, MonotonicTime now) {
		Plan plan = this.planner.plan(this.picture, assignment, serverMillis(now), claimsUntilMillis(now));
		if (plan.nextMillis() != 0) {
			planBy(at(plan.nextMillis()));
		}
		MonotonicTime askAgainAt = this.assigning.askAgainAt();
		if (askAgainAt != null) {
			planBy(askAgainAt);
		}
		this.movesHeldBack = plan.movesHeldBack() || assignment.isUnfinished();
		return plan.transitions().isEmpty() ? null : new LeaderAction.ApplyPlan(this.epoch, plan.transitions());
	}

	/**
	 * When to ask {@link #next} again if no event comes before.
	 * @return the time, or {@code null} for no need
	 */
	public @Nullable MonotonicTime wakeAt() {
		if (!leads()) {
			return null;
		}
		if (this.pausedUntil != null) {
			return this.pausedUntil;
		}
		MonotonicTime plansAt = this.assigning.isAwaited() ? null : this.planAt;
		return earliest(earliest(earliest(this.lookAt, claimsEndAt()), plansAt), this.loads.lookAt());
	}

	private static @Nullable MonotonicTime latest(@Nullable MonotonicTime one, @Nullable MonotonicTime other) {
		if (one == null || other == null) {
			return (one != null) ? one : other;
		}
		return one.isBefore(other) ? other : one;
	}

	private static @Nullable MonotonicTime earliest(@Nullable MonotonicTime one, @Nullable MonotonicTime other) {
		if (one == null || other == null) {
			return (one != null) ? one : other;
		}
		return MonotonicTime.earliest(one, other);
	}

	/**
	 * A {@link LeaderAction.Refresh} was done.
	 * @param changes what it read
	 * @param now the time
	 */
	public void refreshed(GroupChanges changes, MonotonicTime now) {
		if (changes.generation() < this.generationSeen) {
			writesLost(changes.generation(), now);
			return;
		}
		this.readAt = now;
		this.generationSeen = changes.generation();
		if (changes.whole()) {
			this.picture = new GroupPicture();
		}
		this.picture.apply(changes);
		this.planner.update(this.picture);
		this.arrivals.saw(this.picture.shards(), this.lastServerMillis);
		this.strangers.saw(this.picture, this.lastServerMillis);
		this.refreshDue = false;
		if (!this.pictureIsNew && changes.ownerships().stream().anyMatch(this::callsForPlan)) {
			planBy(now);
		}
		else if (changes.members() != null) {
			planBy(now.plus(this.settleTime));
		}
		this.pictureIsNew = false;
		this.unattended = new UnattendedShards.Finder(this.picture, this.lease, this.rules.timeout(),
				this.arrivals::sinceMillis, this.strangers)
			.find(this.lastServerMillis, this.lastAnswered);
		this.withoutComparableVersion = this.picture.withoutComparableVersion();
	}

	/**
	 * This member has seen what the store does not know any more. Who has acted upon it
	 * says so with its next heartbeat; until then nothing is assigned.
	 */
	private void writesLost(long generation, MonotonicTime now) {
		this.suspectUntil = now.plus(this.longestLease);
		this.generationSeen = generation;
		forgetPicture();
		planBy(now);
	}

	private boolean callsForPlan(Ownership changed) {
		return switch (changed.phase()) {
			// What has come to its end leaves room, and its children may start.
			case FREE, QUIET, COMPLETED -> true;
			case OWNED -> this.movesHeldBack;
			case REVOKING -> false;
		};
	}

	private void planBy(MonotonicTime time) {
		this.planAt = (this.planAt != null) ? MonotonicTime.earliest(this.planAt, time) : time;
	}

	/**
	 * The member's source knows other shards than before.
	 * @param now the time
	 */
	public void shardsChanged(MonotonicTime now) {
		if (leads()) {
			// Also looks which of them stand still, if there is nothing to plan.
			this.refreshDue = true;
			planBy(now);
		}
	}

	/**
	 * A {@link LeaderAction.ReadLoads} was done.
	 * @param changes what it read
	 * @param now the time
	 * @return sentences about reports that cannot be used, one for each member
	 */
	public List<String> loadsRead(LoadChanges changes, MonotonicTime now) {
		if (this.planAt == null) {
			// Otherwise it is about to be planned anyway, after the settle time perhaps.
			this.planAt = now;
		}
		return this.loads.read(changes, now);
	}

	/**
	 * A {@link LeaderAction.LookForDead} was done.
	 * @param reply what it found
	 * @param now the time
	 */
	public void looked(ReapReply.Looked reply, MonotonicTime now) {
		this.lookAt = (reply.nextLookMillis() != 0) ? this.steadiness.reaches(reply.nextLookMillis()) : null;
		if (isDue(this.lookAt, now) && reply.dead().isEmpty() && reply.timedOut().isEmpty()) {
			// Shards of the dead are left, or the store's clock was set back a little.
			this.lookAt = now.plus(LOOK_PAUSE);
		}
		if (!reply.dead().isEmpty() || !reply.timedOut().isEmpty()) {
			this.refreshDue = true;
			this.planAt = now;
		}
	}

	/**
	 * A {@link LeaderAction.ComputeAssignment} was answered.
	 * @param request what was asked; an answer to what nobody waits for is ignored
	 * @param assignment the answer, made for that request or for one with the same
	 * members and shards
	 */
	public void assigned(AssignmentRequest request, Assignment assignment) {
		this.assigning.answered(request, assignment);
	}

	/**
	 * A {@link LeaderAction.ComputeAssignment} was answered with what cannot be, or not
	 * in time. What was decided last stands, shards without an owner get one, and the
	 * strategy is asked again after a pause.
	 * @param request what was asked; what nobody waits for any more is ignored
	 * @param now the time
	 */
	public void assignmentFailed(AssignmentRequest request, MonotonicTime now) {
		if (this.assigning.failed(request, now)) {
			this.planAt = now;
		}
	}

	/**
	 * A {@link LeaderAction.ApplyPlan} was done.
	 * @param reply what came of it
	 * @param now the time
	 */
	public void planned(PlanReply.Applied reply, MonotonicTime now) {
		this.refreshDue = true;
		if (reply.conflicts() > 0) {
			// Something moved meanwhile, or the picture is wrong.
			forgetPicture();
			this.planAt = now.plus(CONFLICT_PAUSE);
		}
	}

	/**
	 * An action failed; it is tried again after a pause.
	 * @param now the time
	 * @param pause how long to do nothing
	 */
	public void failed(MonotonicTime now, Duration pause) {
		this.pausedUntil = now.plus(pause);
		this.refreshDue = true;
		this.planAt = now;
	}

	/**
	 * The shards that stand still.
	 * @return those that the leader saw last, none for who does not lead
	 */
	public UnattendedShards unattended() {
		return this.unattended;
	}

	/**
	 * The members that get no shards as long as others are there, because their version
	 * says nothing about its age while that of others does.
	 * @return those that own nothing, though nothing keeps them from it but their version
	 */
	public List<MemberId> withoutComparableVersion() {
		return this.withoutComparableVersion;
	}

	/**
	 * What this leader planned by last: it says why each shard is where it is.
	 * @return it, {@code null} before the first plan and for who does not lead
	 */
	public @Nullable Assignment assignment() {
		return this.assigning.inForce();
	}

	/**
	 * An {@link LeaderAction.EndClaims} was done.
	 * @param reply the store's answer
	 * @param now the time
	 */
	public void claimsEnded(EndClaimsReply reply, MonotonicTime now) {
		switch (reply) {
			case ENDED -> {
				this.claimsUntilMillis = 0;
				planBy(now);
			}
			// The next heartbeat's answer tells until when.
			case OPEN -> this.claimsUntil = now.plus(this.longestLease);
			case DEPOSED -> deposed();
		}
	}

	/**
	 * Whether the leader knows another member that could lead.
	 * @param self this member
	 * @return whether there is one that does not leave
	 */
	public boolean hasSuccessor(MemberId self) {
		return leads()
				&& this.picture.members().stream().anyMatch((member) -> !member.leaving() && !member.id().equals(self));
	}

	private static boolean isDue(@Nullable MonotonicTime time, MonotonicTime now) {
		return time != null && !now.isBefore(time);
	}

	/** Later than the real point by the answer's way back, never earlier. */
	private MonotonicTime at(long serverMillis) {
		return this.lastAnswered.plus(Duration.ofMillis(serverMillis - this.lastServerMillis + 1));
	}

	/** When this leader may end the time for claims; {@code null} while there is none. */
	private @Nullable MonotonicTime claimsEndAt() {
		return (this.claimsUntilMillis != 0 && this.claimsWatched) ? latest(this.suspectUntil, this.claimsUntil) : null;
	}

	private long claimsUntilMillis(MonotonicTime now) {
		MonotonicTime until = latest(this.suspectUntil, this.claimsUntil);
		if (until != null && now.isBefore(until)) {
			return Math.max(this.claimsUntilMillis, serverMillis(until));
		}
		// When it is ended, there is a plan at once.
		return (this.claimsUntilMillis != 0) ? serverMillis(now.plus(this.longestLease)) : 0;
	}

	/** Earlier than the real time by the answer's way back, never later. */
	private long serverMillis(MonotonicTime now) {
		return this.lastServerMillis + this.lastAnswered.until(now).toMillis();
	}

}
