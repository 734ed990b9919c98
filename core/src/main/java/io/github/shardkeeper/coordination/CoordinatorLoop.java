package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.leader.GroupProblemPublisher;
import io.github.shardkeeper.coordination.leader.LeaderDriver;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.Departure;
import io.github.shardkeeper.coordination.member.DepartureDriver;
import io.github.shardkeeper.coordination.member.DirectiveFollower;
import io.github.shardkeeper.coordination.member.HeartbeatObserver;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.HoldingDriver;
import io.github.shardkeeper.coordination.member.LeaseReports;
import io.github.shardkeeper.coordination.member.LoadReporter;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.Membership;
import io.github.shardkeeper.coordination.member.SessionListener;
import io.github.shardkeeper.coordination.member.SessionListeners;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.coordination.member.ShardProblemPublisher;
import io.github.shardkeeper.coordination.member.StoreAvailability;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.leader.Leadership;
import io.github.shardkeeper.protocol.member.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The event loop of a member. {@link ShardHoldings} and {@link Leadership} decide; their
 * drivers act and feed back the results. User code never runs on it. Methods that post
 * events or return published values may be called on any thread; everything else is
 * confined to the loop.
 */
final class CoordinatorLoop {

	private static final Logger logger = PrintableLogger.of(CoordinatorLoop.class);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private static final Duration MISCONFIGURED_RETRY_PAUSE = Duration.ofSeconds(5);

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final Lease lease;

	private final MemberRuntime runtime;

	private final MonotonicClock clock;

	private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();

	private final HoldingDriver holdings;

	private final LoadReporter loads;

	private final LeaderDriver leader;

	private final StoreAvailability storeProblem;

	private final Membership membership;

	private final GroupProblemPublisher problems;

	private final ShardProblemPublisher shardProblems;

	private final DirectiveFollower directives;

	private final DepartureDriver departure;

	private final SessionListeners sessionListeners = new SessionListeners();

	private final LeaseReports leaseReports;

	/**
	 * In the order of their calls: the machines, then what reads and publishes, at last
	 * what may wait for the store.
	 */
	private final List<HeartbeatObserver> heartbeatObservers;

	private volatile Runnable beforeJoin = () -> {
	};

	private volatile Map<String, TopicShards> topics = Map.of();

	private volatile MonotonicTime lastProgress;

	private @Nullable MonotonicTime joinAt;

	private @Nullable ShardConsumption consumption;

	private volatile Loops.@Nullable Loop loop;

	CoordinatorLoop(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats, Lease lease,
			AssignmentSettings assignment, MemberRuntime runtime) {
		this.settings = settings;
		this.storeProblem = new StoreAvailability(settings.group(), settings.lease());
		this.store = store;
		this.heartbeats = heartbeats;
		this.lease = lease;
		this.runtime = runtime;
		this.clock = runtime.clock();
		this.membership = new Membership(settings, assignment.name(), store, heartbeats, runtime.random(), this.clock,
				this.sessionListeners::sessionEnded);
		this.problems = new GroupProblemPublisher(settings, store, this.clock);
		this.shardProblems = new ShardProblemPublisher(store);
		this.directives = new DirectiveFollower(settings.group(), store);
		this.holdings = new HoldingDriver(settings, store, heartbeats, lease, this.clock);
		this.leader = new LeaderDriver(settings, assignment, () -> this.topics, store, this.clock, () -> post(() -> {
		}), () -> this.lastProgress = this.clock.now());
		this.lastProgress = this.clock.now();
		this.loads = new LoadReporter(assignment, heartbeats, this.lastProgress);
		this.departure = new DepartureDriver(settings, store, lease, this.clock, this.membership, this.holdings,
				this::leaving, this::endSession);
		this.leaseReports = new LeaseReports(settings.group(), lease, this.clock, this::consumption,
				this.sessionListeners);
		this.heartbeatObservers = List.of(this.storeProblem, this.holdings, this.leader, this.problems, this.directives,
				this.loads, this.shardProblems, this.sessionListeners, this.membership);
	}

	void start(Map<String, TopicShards> topics, ShardConsumption consumption) {
		this.topics = Map.copyOf(topics);
		this.consumption = consumption;
		forgetEarlierRun(consumption);
		this.heartbeats.start(new HeartbeatEvents());
		try {
			join();
		}
		catch (StoreUnavailableException ex) {
			this.storeProblem.unavailable(ex, this.clock.now());
		}
		// Keeps an application without a web server running.
		Loops.Loop started = this.runtime.loops().startForeground("shardkeeper-coordinator", this::pass);
		this.loop = started;
		// Events that were posted before the loop was known have not woken it.
		started.wake();
	}

	/** Consumes topics in the session that goes on, in which no shard was held. */
	void consume(Map<String, TopicShards> topics, ShardConsumption consumption) {
		Map<String, TopicShards> consumed = Map.copyOf(topics);
		post(() -> {
			this.consumption = consumption;
			this.holdings.consume(consumption);
			if (this.directives.isRead()) {
				consumption.directivesChanged(this.directives.known());
			}
			// Assigned with the description that the next pass writes.
			this.topics = consumed;
			this.leader.handle(new LeaderEvent.ShardsChanged(consumed));
		});
	}

	/** Clears the remains of a stop that timed out. */
	private void forgetEarlierRun(ShardConsumption consumption) {
		this.events.clear();
		this.departure.forget();
		this.joinAt = null;
		this.holdings.start(consumption);
		this.leader.sessionLost();
		this.leader.handle(new LeaderEvent.ShardsChanged(this.topics));
		this.lastProgress = this.clock.now();
	}

	void shardsChanged(Map<String, TopicShards> changed) {
		Map<String, TopicShards> current = Map.copyOf(changed);
		post(() -> {
			if (!current.equals(this.topics)) {
				this.topics = current;
				this.leader.handle(new LeaderEvent.ShardsChanged(current));
			}
		});
	}

	void beforeJoin(Runnable check) {
		this.beforeJoin = check;
	}

	void addSessionListener(SessionListener listener) {
		this.sessionListeners.add(listener);
	}

	void shardsListed(Map<String, LeaderEvent.ListedShards> open) {
		LeaderEvent listed = new LeaderEvent.OpenShardsListed(open);
		post(() -> this.leader.handle(listed));
	}

	CompletableFuture<Void> leave(Duration patience) {
		CompletableFuture<Void> departed = new CompletableFuture<>();
		post(() -> this.departure.begin(new Departure(this.clock.now().plus(patience), departed)));
		return departed;
	}

	void workerEnded(ShardId shard, Token token, Token fence, boolean completed) {
		// If a new session begins meanwhile, the store may have lost the shard's last
		// commits, which no worker can write back. Then the next owner finds out whether
		// it is at its end.
		MemberId then = this.membership.member();
		post(() -> this.holdings.workerEnded(shard, token, fence,
				completed && then != null && this.membership.is(then)));
	}

	void close() {
		Loops.Loop running = this.loop;
		if (running != null) {
			running.close();
		}
		this.leader.close();
		this.heartbeats.close();
		this.membership.end();
		this.loop = null;
	}

	boolean isRunning() {
		return this.loop != null;
	}

	@Nullable MemberId member() {
		return this.membership.member();
	}

	@Nullable String subscriptionProblem() {
		return this.membership.subscriptionProblem();
	}

	boolean isConnected() {
		return this.membership.member() != null && this.lease.isHeld(this.clock.now());
	}

	LeaderDriver leader() {
		return this.leader;
	}

	DirectiveFollower directives() {
		return this.directives;
	}

	Map<String, TopicShards> topics() {
		return this.topics;
	}

	List<GroupProblem> groupProblems() {
		return this.problems.known();
	}

	/** Called by one thread at a time, which need not be that of this loop. */
	void shareProblems(Map<ShardId, String> shardProblems) {
		MemberId self = this.membership.member();
		if (self != null) {
			this.shardProblems.publish(self, shardProblems, this.clock.now());
		}
	}

	StoreAvailability storeProblem() {
		return this.storeProblem;
	}

	boolean measuresLoads() {
		return this.loads.isWanted();
	}

	private void post(Runnable event) {
		this.events.add(event);
		Loops.Loop running = this.loop;
		if (running != null) {
			running.wake();
		}
	}

	/**
	 * One round, in an order that matters: events first, because workers that end during
	 * a release go together; then the session, without which nothing else can be done;
	 * then the member's own shards, before those of the group.
	 */
	private @Nullable MonotonicTime pass() {
		try {
			runEvents();
			keepSession();
			MemberId self = this.membership.member();
			followDirectives(self);
			this.holdings.run(self);
			if (self == null || this.directives.isRead()) {
				lead(self);
			}
			if (self != null) {
				this.loads.run(consumption(), this.clock.now());
				this.membership.describe(this.topics);
			}
			forgetFormerMembers();
			this.departure.run();
			if (self == null || this.directives.isRead()) {
				this.lastProgress = this.clock.now();
			}
		}
		catch (StoreUnavailableException ex) {
			if (this.membership.member() == null) {
				// No heartbeats are sent, so their last reply is out of date.
				this.storeProblem.unavailable(ex, this.clock.now());
			}
			else {
				this.storeProblem.stepFailed(ex, this.clock.now());
			}
		}
		catch (ShardkeeperConfigurationException ex) {
			// The store was unavailable at the start, so this is found only now.
			this.storeProblem.misconfigured(ex.getMessage());
			this.joinAt = (this.membership.member() != null) ? null : this.clock.now().plus(MISCONFIGURED_RETRY_PAUSE);
		}
		this.holdings.logChanges();
		publishGroupProblems();
		return wakeAt();
	}

	/** Ends a lease that is over, and joins if that is due. */
	private void keepSession() {
		MonotonicTime now = this.clock.now();
		if (isBetweenSessions() && !this.lease.isEnded() && !this.lease.isHeld(now)) {
			// From now on shards can only be presented, not claimed.
			this.leaseReports.leaseEnded();
			this.heartbeats.endSession();
		}
		if (this.joinAt != null && !now.isBefore(this.joinAt)
				&& (!this.departure.isUnderWay() || isBetweenSessions())) {
			join();
		}
	}

	/** Before shards start: one that is paused starts paused. */
	private void followDirectives(@Nullable MemberId self) {
		if (self != null && this.directives.run(this.clock.now())) {
			Directives read = this.directives.known();
			consumption().directivesChanged(read);
			this.leader.handle(new LeaderEvent.DirectivesRead(read));
		}
	}

	private void lead(@Nullable MemberId self) {
		this.leader.run(self);
		if (this.leader.takeCompletedRequests()) {
			this.directives.changedHere();
		}
	}

	private void forgetFormerMembers() {
		Set<MemberId> changedMembers = this.leader.changedMembers();
		if (changedMembers != null) {
			this.shardProblems.retain(changedMembers);
		}
	}

	/** Runs after a failed pass, too, so that all members know the reason. */
	private void publishGroupProblems() {
		MemberId self = this.membership.member();
		List<GroupProblem> found = this.leader.problems();
		Optional<String> refused = this.storeProblem.lasting(this.clock.now());
		if (self == null || !this.leader.isElected()) {
			return;
		}
		try {
			this.problems.publish(self, this.leader.epoch(), found, this.directives.problem(), refused);
		}
		catch (StoreUnavailableException ex) {
			this.storeProblem.stepFailed(ex, this.clock.now());
		}
	}

	/** Leaves later events to the next pass: deadlines must not wait for them. */
	private void runEvents() {
		for (int left = this.events.size(); left > 0; left--) {
			Runnable event = this.events.poll();
			if (event != null) {
				event.run();
			}
		}
	}

	/** Returns whether shards belong to a session that the store no longer knows. */
	private boolean isBetweenSessions() {
		return this.holdings.outlive(this.membership.member());
	}

	private ShardConsumption consumption() {
		return Objects.requireNonNull(this.consumption);
	}

	private @Nullable MonotonicTime wakeAt() {
		if (!this.events.isEmpty()) {
			return this.clock.now();
		}
		return MonotonicTime.earliestOf(this.joinAt, this.directives.isRead() ? this.leader.wakeAt() : null,
				(this.membership.member() != null) ? this.directives.wakeAt() : null,
				this.holdings.wakeAt(this.membership.member()),
				(this.membership.member() != null) ? this.loads.wakeAt() : null,
				(isBetweenSessions() && !this.lease.isEnded()) ? this.lease.endsAt() : null, this.departure.wakeAt());
	}

	private void join() {
		// Cleared only on success, so that any failure is retried.
		this.joinAt = this.clock.now().plus(RETRY_PAUSE);
		this.store.verify();
		this.beforeJoin.run();
		MemberId joined = this.membership.join(this.topics);
		boolean unconfirmed = this.holdings.joined(joined);
		this.loads.reportAllAgain();
		this.directives.sessionBegun();
		this.membership.begin(joined, unconfirmed, this::isFitToLead);
		this.storeProblem.sessionBegun(this.clock.now());
		this.joinAt = null;
		this.departure.sessionBegun();
	}

	/** Excludes a member whose loop stands still, or whose decisions fail. */
	private boolean isFitToLead() {
		return this.lastProgress.until(this.clock.now()).compareTo(this.settings.lease()) < 0
				&& !this.leader.isFailing(this.settings.lease());
	}

	private void heartbeatAnswered(HeartbeatAnswered reply) {
		if (!this.membership.is(reply.self())) {
			return;
		}
		MonotonicTime now = this.clock.now();
		if (reply.reply().lost()) {
			this.heartbeatObservers.forEach(HeartbeatObserver::writesLost);
		}
		// Whatever an observer does: the next join tells the store, which waits for so
		// long.
		this.membership.longestLeaseReported(reply.reply().longestLeaseMillis());
		this.heartbeatObservers.forEach((observer) -> observer.heartbeatAnswered(reply, now));
	}

	private void sessionExpired(MemberId member) {
		if (!this.membership.is(member)) {
			return;
		}
		Level level = this.storeProblem.sessionLost() ? Level.WARN : Level.DEBUG;
		if (this.lease.isHeld(this.clock.now())) {
			logger.atLevel(level)
				.log("The store no longer knows the session of {} in group '{}', so it has lost its data. "
						+ "Rejoining with the shards that are held", member, this.settings.group());
			this.membership.forgotten();
			leadershipLost();
			this.holdings.sessionForgotten();
		}
		else {
			// If the lease guard has not reported it yet, it no longer will.
			this.leaseReports.leaseEnded();
			logger.atLevel(level)
				.log("The session of {} in group '{}' is over: its shards were given to others, or the store has "
						+ "lost its data. Rejoining", member, this.settings.group());
			this.membership.end();
			leadershipLost();
			// Which of the two it is shows when the shards are presented.
			this.holdings.sessionForgotten();
		}
		this.joinAt = this.clock.now();
	}

	private void endSession() {
		this.membership.end();
		leadershipLost();
		this.holdings.sessionLost();
	}

	private void leadershipLost() {
		this.leader.sessionLost();
		this.problems.sessionLost();
	}

	private void leaving(MemberId self) {
		this.leader.leaving(self);
		this.heartbeats.endSession();
		this.shardProblems.leaves(self);
	}

	/** Posts what heartbeats report. Thread-safe. */
	private final class HeartbeatEvents implements HeartbeatScheduler.Listener {

		@Override
		public void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
			post(() -> CoordinatorLoop.this.heartbeatAnswered(new HeartbeatAnswered(reply, member, sentAt)));
		}

		@Override
		public void heartbeatFailed(MemberId member, StoreUnavailableException failure) {
			post(() -> CoordinatorLoop.this.heartbeatObservers
				.forEach((observer) -> observer.heartbeatFailed(failure, CoordinatorLoop.this.clock.now())));
		}

		@Override
		public void sessionExpired(MemberId member) {
			post(() -> CoordinatorLoop.this.sessionExpired(member));
		}

		@Override
		public void leaseEnded() {
			CoordinatorLoop.this.leaseReports.leaseEnded();
		}

		@Override
		public void handOutResumed() {
			CoordinatorLoop.this.leaseReports.handOutResumed();
		}

	}

}
