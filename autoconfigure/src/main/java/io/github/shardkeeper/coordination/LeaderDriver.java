package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.GroupProblem;
import io.github.shardkeeper.handover.LeaderAction;
import io.github.shardkeeper.handover.Leadership;
import io.github.shardkeeper.handover.LoadChanges;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.PlanReply;
import io.github.shardkeeper.handover.ReapReply;
import io.github.shardkeeper.handover.Transition;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Carries out what {@link Leadership} decides, and publishes what it knows. Confined to
 * the coordinator's loop where nothing else is said.
 */
final class LeaderDriver {

	private static final Logger logger = LoggerFactory.getLogger(LeaderDriver.class);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	private static final Duration FAILURE_RETRY_PAUSE = Duration.ofSeconds(5);

	/** Between two signs of life. */
	private static final int PLANNED_AT_ONCE = 1000;

	private final Leadership leadership;

	private final Duration crashQuietPeriod;

	private final ConfigurationDifferences differences;

	private final CoordinationStore store;

	private final MonotonicClock clock;

	private final Runnable onProgress;

	private final StrategyCalls calls;

	private final AssignmentTrouble trouble = new AssignmentTrouble();

	/** Since when every attempt to decide has failed. */
	private volatile @Nullable MonotonicTime failingSince;

	private volatile boolean hasSuccessor;

	private volatile @Nullable Assignment assignment;

	private final String group;

	/** Why the last attempt to decide has failed. */
	private @Nullable String failure;

	/** The leadership in which it has decided, or failed to. */
	private long lookedInEpoch;

	/** Topics that were said to be retired in this leadership. */
	private final Set<String> retired = new HashSet<>();

	/**
	 * Creates the driver.
	 * @param wake has the loop make another pass
	 * @param onProgress called whenever the store has answered a part of what takes long:
	 * reading or planning a very large group may take longer than a lease, and a leader
	 * that were replaced for that would be followed by one that begins anew
	 */
	LeaderDriver(CoordinationSettings settings, AssignmentSettings assigning, Supplier<Map<String, TopicShards>> topics,
			CoordinationStore store, MonotonicClock clock, Runnable wake, Runnable onProgress) {
		this.leadership = new Leadership(settings.heartbeatInterval(), settings.lease(), settings.settleTime(),
				settings.handover(), topics, assigning.strategy().usesLoad() ? assigning.loads() : null);
		this.group = settings.group();
		this.crashQuietPeriod = settings.handover().crashQuietPeriod();
		this.differences = new ConfigurationDifferences(topics, assigning.name());
		this.store = store;
		this.clock = clock;
		this.onProgress = onProgress;
		this.calls = new StrategyCalls(assigning, clock, this::computed, wake);
	}

	Leadership leadership() {
		return this.leadership;
	}

	/**
	 * Does all that is due.
	 * @param self this member, {@code null} outside a session
	 */
	void run(@Nullable MemberId self) {
		this.calls.run();
		if (self == null) {
			return;
		}
		try {
			LeaderAction action = this.leadership.next(this.clock.now());
			if (action != null) {
				while (action != null) {
					perform(action, self);
					action = this.leadership.next(this.clock.now());
				}
				this.failingSince = null;
				this.failure = null;
				this.lookedInEpoch = this.leadership.isInformed() ? this.leadership.epoch() : this.lookedInEpoch;
			}
		}
		catch (StoreUnavailableException ex) {
			this.leadership.failed(this.clock.now(), STORE_RETRY_PAUSE);
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			// This member's shards must not suffer from it: the loop's pass goes on.
			logger.error("Cannot plan; all shards stay where they are. Trying again in {} s",
					FAILURE_RETRY_PAUSE.toSeconds(), ex);
			this.failure = String.valueOf(ex);
			this.lookedInEpoch = this.leadership.epoch();
			MonotonicTime now = this.clock.now();
			if (this.failingSince == null) {
				this.failingSince = now;
			}
			this.leadership.failed(now, FAILURE_RETRY_PAUSE);
		}
		tell(self);
	}

	private void tell(MemberId self) {
		if (!this.leadership.leads()) {
			deposed();
			return;
		}
		this.differences.report(this.clock.now());
		this.hasSuccessor = this.leadership.hasSuccessor(self);
		this.assignment = this.leadership.assignment();
	}

	/**
	 * What this leader has found wrong with the group.
	 * @return the problems; {@code null} for who does not lead, or has neither decided
	 * anything nor failed to since it does
	 */
	@Nullable List<GroupProblem> problems() {
		if (!this.leadership.leads() || this.lookedInEpoch != this.leadership.epoch()) {
			return null;
		}
		List<GroupProblem> problems = new ArrayList<>(this.leadership.unattended().problems(this.clock.now()));
		problems.stream()
			.filter((problem) -> problem.kind().equals("retired") && this.retired.add(problem.concerned()))
			.forEach((problem) -> logger.warn("Group '{}': {}. {}", this.group, problem.concerned(),
					problem.sentence()));
		if (this.failure != null) {
			problems.add(new GroupProblem(true, "planning", "Planning fails, so all shards stay where they are, and "
					+ "nobody takes over those of an instance that stops. The leader retries, and so do other instances; "
					+ "the log of the leader has the stack trace: " + this.failure, ""));
		}
		assignmentProblem().ifPresent((text) -> problems.add(new GroupProblem(true, "assignment", text, "")));
		problems.addAll(this.differences.problems(this.leadership.withoutComparableVersion()));
		return problems;
	}

	/** The number of the leadership, 0 for who does not lead. */
	long epoch() {
		return this.leadership.epoch();
	}

	/** The session is over. */
	void sessionLost() {
		this.leadership.sessionLost();
		deposed();
	}

	private void deposed() {
		this.failingSince = null;
		this.trouble.deposed();
		this.hasSuccessor = false;
		this.assignment = null;
		this.failure = null;
		this.retired.clear();
	}

	/** When to {@link #run} if nothing happens before. */
	@Nullable MonotonicTime wakeAt() {
		MonotonicTime next = this.leadership.wakeAt();
		MonotonicTime overdue = this.calls.wakeAt();
		return (next == null || overdue != null && overdue.isBefore(next)) ? overdue : next;
	}

	/** Interrupts the strategy if it runs. May be called from any thread. */
	void close() {
		this.calls.close();
	}

	/**
	 * Whether this leader has decided nothing for so long, because it or its strategy
	 * fails, that another one should try. May be called from any thread.
	 */
	boolean isFailing(Duration lease) {
		MonotonicTime now = this.clock.now();
		MonotonicTime since = this.failingSince;
		return since != null && since.until(now).compareTo(lease) >= 0
				|| this.hasSuccessor && this.trouble.isFailing(now, lease);
	}

	/** See {@link ShardCoordinator#why}. May be called from any thread. */
	Optional<String> why(ShardId shard) {
		Assignment known = this.assignment;
		int number = (known != null) ? known.request().shards().indexOf(shard) : -1;
		return (known != null && number >= 0) ? Optional.of(known.why(number)) : Optional.empty();
	}

	private Optional<String> assignmentProblem() {
		return Optional.ofNullable(this.trouble.text());
	}

	private void perform(LeaderAction action, MemberId self) {
		if (action instanceof LeaderAction.Refresh refresh) {
			GroupChanges changes = this.store.changes(refresh.generation(), refresh.membership(), this.onProgress);
			this.leadership.refreshed(changes, this.clock.now());
			this.differences.refreshed(changes);
		}
		else if (action instanceof LeaderAction.ReadLoads read) {
			LoadChanges changes = this.store.loads(read.version());
			this.leadership.loadsRead(changes, this.clock.now()).forEach(logger::warn);
		}
		else if (action instanceof LeaderAction.LookForDead look) {
			looked(this.store.reap(self, look.epoch(), look.steady(), this.crashQuietPeriod));
		}
		else if (action instanceof LeaderAction.EndClaims end) {
			this.leadership.claimsEnded(this.store.endClaims(self, end.epoch(), end.untilMillis()), this.clock.now());
		}
		else if (action instanceof LeaderAction.ComputeAssignment compute) {
			this.calls.begin(compute.request());
		}
		else if (action instanceof LeaderAction.ApplyPlan plan) {
			planned(plan, apply(plan, self));
		}
	}

	private PlanReply apply(LeaderAction.ApplyPlan plan, MemberId self) {
		List<Transition> all = plan.transitions();
		int applied = 0;
		int conflicts = 0;
		for (int from = 0; from < all.size(); from += PLANNED_AT_ONCE) {
			PlanReply reply = this.store.plan(self, plan.epoch(),
					all.subList(from, Math.min(from + PLANNED_AT_ONCE, all.size())));
			if (!(reply instanceof PlanReply.Applied part)) {
				return reply;
			}
			applied += part.applied();
			conflicts += part.conflicts();
			this.onProgress.run();
		}
		return new PlanReply.Applied(applied, conflicts);
	}

	private void computed(AssignmentRequest request, AssignmentAnswer answer) {
		if (answer instanceof AssignmentAnswer.Computed computed) {
			this.trouble.worked();
			this.leadership.assigned(request, computed.assignment());
		}
		else if (answer instanceof AssignmentAnswer.Failed failed) {
			MonotonicTime now = this.clock.now();
			if (this.leadership.leads()) {
				this.trouble.failed(failed, now);
			}
			this.leadership.assignmentFailed(request, now);
		}
	}

	private void looked(ReapReply reply) {
		if (!(reply instanceof ReapReply.Looked looked)) {
			this.leadership.deposed();
			return;
		}
		looked.dead().forEach((member) -> logger.warn("{} is dead: silent for a lease, nobody subscribed", member));
		looked.timedOut().forEach((member) -> logger.warn("{} was silent for its session timeout", member));
		this.leadership.looked(looked, this.clock.now());
	}

	private void planned(LeaderAction.ApplyPlan plan, PlanReply reply) {
		if (!(reply instanceof PlanReply.Applied applied)) {
			this.leadership.deposed();
			return;
		}
		logger.debug("Applied {} of {} changes: {}", applied.applied(), plan.transitions().size(), plan.transitions());
		this.leadership.planned(applied, this.clock.now());
	}

}
