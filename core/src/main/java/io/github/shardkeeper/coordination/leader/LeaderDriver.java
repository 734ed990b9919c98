package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatObserver;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction;
import io.github.shardkeeper.protocol.leader.LeaderEvent;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.leader.Leadership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Passes events to {@link Leadership}, carries out its actions and publishes its results.
 * Confined to the coordinator's loop unless a method says otherwise.
 */
public final class LeaderDriver implements HeartbeatObserver {

	private static final Logger logger = PrintableLogger.of(LeaderDriver.class);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	private static final Duration FAILURE_RETRY_PAUSE = Duration.ofSeconds(5);

	private static final int MOST_TRANSITIONS_AT_ONCE = 1000;

	private final Leadership leadership;

	private @Nullable MonotonicTime wakeAt;

	private final Duration crashQuietPeriod;

	private final ConfigurationDifferences differences;

	private final CoordinationStore store;

	private final MonotonicClock clock;

	private final Runnable onProgress;

	private final List<Consumer<List<ShardMove>>> moveListeners = new CopyOnWriteArrayList<>();

	private final StrategyCalls calls;

	private final MoveReasonWriter reasons;

	private volatile MeterGuard<Consumer<Duration>> planTimes = new MeterGuard<>((duration) -> {
	}, (failure) -> {
	});

	private final StrategyFailures strategyFailures = new StrategyFailures();

	/** Time of the first failed decision since the last successful one. */
	private volatile @Nullable MonotonicTime failingSince;

	/** Whether this member was the leader at its last heartbeat. */
	private volatile boolean elected;

	private volatile boolean hasSuccessor;

	private volatile @Nullable Assignment assignment;

	/** Whether members may have claimed shards since the reasons were filled in. */
	private boolean claimsEnded;

	private final String group;

	private @Nullable String failure;

	/** Members that were read and not asked for since; {@code null} for none. */
	private @Nullable Set<MemberId> changedMembers;

	/** Whether requests were completed since this was asked last. */
	private boolean completedRequests;

	/** Epoch of the last decision, successful or not. */
	private long decidedInEpoch;

	/** Retired topics that were logged in this leadership. */
	private final Set<String> retiredLogged = new HashSet<>();

	/**
	 * Creates the driver.
	 * @param onProgress called after each step of a long call of the store: reading or
	 * planning a very large group may take longer than a lease, and a new leader would
	 * have to start it again
	 */
	public LeaderDriver(CoordinationSettings settings, AssignmentSettings assigning,
			Supplier<Map<String, TopicShards>> topics, CoordinationStore store, MonotonicClock clock, Runnable wake,
			Runnable onProgress) {
		this.leadership = new Leadership(settings.heartbeatInterval(), settings.lease(), settings.settleTime(),
				settings.handover(), assigning.strategy().usesLoad() ? assigning.loads() : null);
		this.group = settings.group();
		this.crashQuietPeriod = settings.handover().crashQuietPeriod();
		this.differences = new ConfigurationDifferences(topics, assigning.name());
		this.store = store;
		this.clock = clock;
		this.onProgress = onProgress;
		this.reasons = new MoveReasonWriter(store, wake);
		this.calls = new StrategyCalls(assigning, clock, this::computed, wake);
	}

	/** See {@code ShardCoordinator#onPlan}. Thread-safe. */
	public void onPlan(Consumer<Duration> listener) {
		this.planTimes = new MeterGuard<>(listener,
				(failure) -> logger.warn("Plans cannot be timed; they continue. Logged once", failure));
	}

	/** See {@code ShardCoordinator#addMoveListener}. Thread-safe. */
	public void addMoveListener(Consumer<List<ShardMove>> listener) {
		this.moveListeners.add(listener);
	}

	/** Passes an event to the machine; {@link #run} carries out the actions. */
	public void handle(LeaderEvent event) {
		on(event);
	}

	private Step<LeaderAction> on(LeaderEvent event) {
		Step<LeaderAction> step = this.leadership.handle(event, this.clock.now());
		this.wakeAt = step.wakeAt();
		return step;
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		on(reply);
		if (this.elected != leads()) {
			this.elected = leads();
			logger.info(this.elected ? "Leads group '{}' (epoch {})" : "No longer leads group '{}' (epoch {})",
					this.group, reply.reply().epoch());
		}
	}

	@Override
	public void heartbeatFailed(StoreUnavailableException failure, MonotonicTime now) {
		on(new LeaderEvent.HeartbeatFailed());
	}

	/** Returns whether this member was the leader at its last heartbeat. Thread-safe. */
	public boolean isElected() {
		return this.elected;
	}

	private boolean leads() {
		return this.leadership.view().leads();
	}

	/** Returns the number of the leadership, 0 for a member that does not lead. */
	public long epoch() {
		return this.leadership.view().epoch();
	}

	public void run(@Nullable MemberId self) {
		this.calls.run();
		if (self == null) {
			return;
		}
		try {
			Step<LeaderAction> step = on(new LeaderEvent.TimePassed());
			if (!step.actions().isEmpty()) {
				while (!step.actions().isEmpty()) {
					step = on(perform(step.actions(), self));
				}
				this.failingSince = null;
				this.failure = null;
				this.decidedInEpoch = this.leadership.view().informed() ? epoch() : this.decidedInEpoch;
			}
		}
		catch (StoreUnavailableException ex) {
			on(new LeaderEvent.ActionFailed(STORE_RETRY_PAUSE));
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			// Only planning fails: the loop continues, for this member's own shards.
			logger.error("Cannot plan; all shards stay where they are. Trying again in {} s",
					FAILURE_RETRY_PAUSE.toSeconds(), ex);
			this.failure = String.valueOf(ex);
			this.decidedInEpoch = epoch();
			if (this.failingSince == null) {
				this.failingSince = this.clock.now();
			}
			on(new LeaderEvent.ActionFailed(FAILURE_RETRY_PAUSE));
		}
		publish();
	}

	/** Finds the last moves of a leader that leaves; without them it leaves as well. */
	public void leaving(MemberId self) {
		try {
			for (LeaderAction read : on(new LeaderEvent.Leaving()).actions()) {
				on(call(read, self)).actions()
					.stream()
					.filter(LeaderAction.RecordMoves.class::isInstance)
					.forEach((found) -> perform(List.of(found), self));
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The last moves of this leader are not recorded", ex);
		}
	}

	private void publish() {
		if (!leads()) {
			deposed();
			return;
		}
		this.differences.report(this.clock.now());
		this.hasSuccessor = this.leadership.view().hasSuccessor();
		Assignment planned = this.leadership.view().assignment();
		if (planned != null && (this.assignment == null || this.claimsEnded && planned != this.assignment)) {
			this.reasons.fillIn(planned);
			this.claimsEnded = false;
		}
		this.assignment = planned;
		this.reasons.run(this.clock.now());
	}

	/**
	 * {@return the problems that this leader has found; {@code null} if it does not lead
	 * or has not decided anything since its election}
	 */
	@Nullable public List<GroupProblem> problems() {
		Leadership.View view = this.leadership.view();
		if (!view.leads() || this.decidedInEpoch != view.epoch()) {
			return null;
		}
		List<GroupProblem> problems = new ArrayList<>(view.unattended().problems(this.clock.now()));
		problems.stream()
			.filter((problem) -> problem.kind().equals("retired") && this.retiredLogged.add(problem.concerned()))
			.forEach((problem) -> logger.warn("Group '{}': {}. {}", this.group, problem.concerned(),
					problem.sentence()));
		if (this.failure != null) {
			problems.add(new GroupProblem(true, "planning", "Planning fails, so all shards stay where they are, and "
					+ "nobody takes over those of an instance that stops. The leader retries, and so do other instances; "
					+ "the log of the leader has the stack trace: " + this.failure, ""));
		}
		String strategyFailure = this.strategyFailures.text();
		if (strategyFailure != null) {
			problems.add(new GroupProblem(true, "assignment", strategyFailure, ""));
		}
		problems.addAll(this.differences.problems(view.withoutComparableVersion()));
		return problems;
	}

	public void sessionLost() {
		this.elected = false;
		on(new LeaderEvent.SessionLost());
		deposed();
	}

	private void deposed() {
		this.failingSince = null;
		this.strategyFailures.deposed();
		this.hasSuccessor = false;
		this.assignment = null;
		this.reasons.deposed();
		this.failure = null;
		this.retiredLogged.clear();
	}

	/** Returns the members once after each change of them, {@code null} otherwise. */
	@Nullable public Set<MemberId> changedMembers() {
		Set<MemberId> changed = this.changedMembers;
		this.changedMembers = null;
		return changed;
	}

	/** Returns once whether requests were completed, also if there was no reply. */
	public boolean takeCompletedRequests() {
		boolean completed = this.completedRequests;
		this.completedRequests = false;
		return completed;
	}

	/** Returns the time of the next {@link #run}, {@code null} for none. */
	@Nullable public MonotonicTime wakeAt() {
		return MonotonicTime.earliestOf(this.wakeAt, this.calls.wakeAt());
	}

	/** Interrupts the strategy if it runs. Thread-safe. */
	public void close() {
		this.elected = false;
		this.calls.close();
	}

	/**
	 * {@return whether this leader or its strategy has failed for so long that another
	 * member should lead} Thread-safe.
	 */
	public boolean isFailing(Duration lease) {
		MonotonicTime now = this.clock.now();
		MonotonicTime since = this.failingSince;
		return since != null && since.until(now).compareTo(lease) >= 0
				|| this.hasSuccessor && this.strategyFailures.isFailing(now, lease);
	}

	/** See {@code ShardCoordinator#why}. Thread-safe. */
	public Optional<String> why(ShardId shard) {
		Assignment known = this.assignment;
		int number = (known != null) ? known.request().shards().indexOf(shard) : -1;
		return (known != null && number >= 0) ? Optional.of(known.why(number)) : Optional.empty();
	}

	private LeaderEvent perform(List<LeaderAction> actions, MemberId self) {
		LeaderEvent reply = new LeaderEvent.TimePassed();
		for (LeaderAction action : actions) {
			if (action instanceof LeaderAction.ComputeAssignment compute) {
				this.calls.begin(compute.request());
			}
			else if (action instanceof LeaderAction.RecordMoves found) {
				this.moveListeners.forEach((listener) -> listener.accept(found.moves()));
			}
			else if (action instanceof LeaderAction.WarnOfLoadReport warn) {
				logger.warn(warn.text());
			}
			else {
				reply = call(action, self);
			}
		}
		return reply;
	}

	private LeaderEvent call(LeaderAction action, MemberId self) {
		if (action instanceof LeaderAction.ReadGroup read) {
			GroupChanges changes = this.store.readChanges(read.generation(), read.membership(), this.onProgress);
			this.differences.groupRead(changes);
			List<GroupMember> members = changes.members();
			if (members != null) {
				this.changedMembers = members.stream().map(GroupMember::id).collect(Collectors.toSet());
			}
			return new LeaderEvent.GroupRead(changes);
		}
		if (action instanceof LeaderAction.ReadLoads read) {
			return new LeaderEvent.LoadsRead(this.store.readLoads(read.version()));
		}
		if (action instanceof LeaderAction.ReapDeadMembers reap) {
			return reaped(this.store.reapMembers(self, reap.epoch(), reap.steady(), this.crashQuietPeriod));
		}
		if (action instanceof LeaderAction.EndClaims end) {
			EndClaimsReply reply = this.store.endClaims(self, end.epoch(), end.untilMillis());
			this.claimsEnded |= reply == EndClaimsReply.ENDED;
			return new LeaderEvent.EndClaimsAnswered(reply);
		}
		if (action instanceof LeaderAction.CompleteRequests complete) {
			this.completedRequests = true;
			return new LeaderEvent.RequestsCompleted(
					this.store.directives().complete(self, complete.epoch(), complete.requests()));
		}
		if (action instanceof LeaderAction.ApplyPlan plan) {
			return planned(plan, apply(plan, self));
		}
		throw new IllegalArgumentException(action.toString());
	}

	private static LeaderEvent reaped(ReapReply reply) {
		if (reply instanceof ReapReply.Looked looked) {
			looked.dead().forEach((member) -> logger.warn("{} is dead: silent for a lease, nobody subscribed", member));
			looked.timedOut().forEach((member) -> logger.warn("{} was silent for its session timeout", member));
		}
		return new LeaderEvent.ReapAnswered(reply);
	}

	private PlanReply apply(LeaderAction.ApplyPlan plan, MemberId self) {
		List<Transition> all = plan.transitions();
		int applied = 0;
		int conflicts = 0;
		for (int from = 0; from < all.size(); from += MOST_TRANSITIONS_AT_ONCE) {
			List<Transition> some = all.subList(from, Math.min(from + MOST_TRANSITIONS_AT_ONCE, all.size()));
			PlanReply reply = this.store.applyPlan(self, plan.epoch(), some);
			if (!(reply instanceof PlanReply.Applied part)) {
				return reply;
			}
			explain(some);
			applied += part.applied();
			conflicts += part.conflicts();
			this.onProgress.run();
		}
		return new PlanReply.Applied(applied, conflicts);
	}

	/** Hands on why planned shards move: to the store, and to the search for moves. */
	private void explain(List<Transition> planned) {
		Assignment by = this.leadership.view().assignment();
		if (by != null) {
			Map<ShardId, MoveReason> explained = MoveReason.of(planned, by);
			this.reasons.planned(explained);
			on(new LeaderEvent.MovesPlanned(explained));
		}
	}

	private static LeaderEvent planned(LeaderAction.ApplyPlan plan, PlanReply reply) {
		if (reply instanceof PlanReply.Applied applied) {
			logger.debug("Applied {} of {} changes: {}", applied.applied(), plan.transitions().size(),
					plan.transitions());
		}
		return new LeaderEvent.PlanAnswered(reply);
	}

	private void computed(AssignmentRequest request, StrategyCalls.Reply reply) {
		if (reply instanceof StrategyCalls.Computed computed) {
			this.planTimes.count((times) -> times.accept(computed.duration()));
			this.strategyFailures.worked();
			on(new LeaderEvent.AssignmentComputed(request, computed.assignment()));
		}
		else if (reply instanceof StrategyCalls.Failed failed) {
			if (leads()) {
				this.strategyFailures.failed(failed, this.clock.now());
			}
			on(new LeaderEvent.AssignmentFailed(request));
		}
	}

}
