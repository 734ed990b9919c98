package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.LeaderEvent;
import io.github.shardkeeper.protocol.Leadership;
import io.github.shardkeeper.protocol.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
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

	private final Membership membership;

	private final GroupProblemPublisher problems;

	private final ShardProblemPublisher shardProblems;

	private final DirectiveFollower directives;

	private final HeartbeatEvents heartbeatEvents = new HeartbeatEvents();

	private final List<SessionListener> sessionListeners = new CopyOnWriteArrayList<>();

	private final List<Consumer<List<ShardMove>>> moveListeners = new CopyOnWriteArrayList<>();

	private volatile Runnable beforeJoin = () -> {
	};

	private volatile boolean leading;

	private volatile Map<String, TopicShards> topics = Map.of();

	private final StoreAvailability storeProblem;

	private volatile MonotonicTime lastProgress;

	private @Nullable MonotonicTime joinAt;

	private @Nullable Departure departure;

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
				(ended) -> this.sessionListeners.forEach((listener) -> listener.sessionEnded(ended)));
		this.problems = new GroupProblemPublisher(settings, store, this.clock);
		this.shardProblems = new ShardProblemPublisher(store);
		this.directives = new DirectiveFollower(settings.group(), store);
		this.holdings = new HoldingDriver(settings, store, heartbeats, lease, this.clock);
		this.leader = new LeaderDriver(settings, assignment, () -> this.topics, store, this.clock, () -> post(() -> {
		}), () -> this.lastProgress = this.clock.now(), this::movesFound);
		this.lastProgress = this.clock.now();
		this.loads = new LoadReporter(assignment, heartbeats, this.lastProgress);
	}

	void start(Map<String, TopicShards> topics, ShardConsumption consumption) {
		this.topics = Map.copyOf(topics);
		this.consumption = consumption;
		forgetEarlierRun(consumption);
		this.heartbeats.start(this.heartbeatEvents);
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
		this.departure = null;
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

	void addMoveListener(Consumer<List<ShardMove>> listener) {
		this.moveListeners.add(listener);
	}

	private void movesFound(List<ShardMove> moves) {
		this.moveListeners.forEach((listener) -> listener.accept(moves));
	}

	void shardsListed(Map<String, LeaderEvent.ListedShards> open) {
		LeaderEvent listed = new LeaderEvent.OpenShardsListed(open);
		post(() -> this.leader.handle(listed));
	}

	CompletableFuture<Void> leave(Duration patience) {
		CompletableFuture<Void> departed = new CompletableFuture<>();
		post(() -> this.departure = new Departure(this.clock.now().plus(patience), departed));
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
		this.leading = false;
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

	List<GroupProblem> setupProblems() {
		return this.store.setupProblems();
	}

	Map<String, String> refusedOperations() {
		return this.store.refusedOperations();
	}

	boolean isConnected() {
		return this.membership.member() != null && this.lease.isHeld(this.clock.now());
	}

	/** Returns zero without a lease. */
	Duration leaseRemaining() {
		return isConnected() ? this.clock.now().until(this.lease.endsAt()) : Duration.ZERO;
	}

	/** Returns zero before the end of the lease, also if it was ended early. */
	Duration sinceEndOfLease() {
		Duration since = this.lease.endsAt().until(this.clock.now());
		return since.isNegative() ? Duration.ZERO : since;
	}

	/** Returns whether this member was the leader at its last heartbeat. */
	boolean isElected() {
		return this.leading;
	}

	LeaderDriver leader() {
		return this.leader;
	}

	Directives directives() {
		return this.directives.known();
	}

	@Nullable String directiveProblem() {
		return this.directives.problem();
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

	/** Runs pending events first: workers that end during a release go together. */
	private @Nullable MonotonicTime pass() {
		try {
			runEvents();
			MonotonicTime now = this.clock.now();
			if (isBetweenSessions() && !this.lease.isEnded() && !this.lease.isHeld(now)) {
				// From now on shards can only be presented, not claimed.
				this.heartbeatEvents.leaseEnded();
				this.heartbeats.endSession();
			}
			if (this.joinAt != null && !now.isBefore(this.joinAt) && (this.departure == null || isBetweenSessions())) {
				join();
			}
			MemberId self = this.membership.member();
			if (self != null && this.directives.run(this.clock.now())) {
				directivesRead();
			}
			this.holdings.run(self);
			if (self == null || this.directives.isRead()) {
				this.leader.run(self);
				if (this.leader.takeCompletedRequests()) {
					this.directives.changedHere();
				}
			}
			if (self != null) {
				this.loads.run(Objects.requireNonNull(this.consumption), this.clock.now());
				this.membership.describe(this.topics);
			}
			Set<MemberId> changedMembers = this.leader.changedMembers();
			if (changedMembers != null) {
				this.shardProblems.retain(changedMembers);
			}
			if (this.departure != null) {
				depart(this.departure);
			}
			if (self == null || this.directives.isRead()) {
				this.lastProgress = this.clock.now();
			}
		}
		catch (StoreUnavailableException ex) {
			if (this.membership.member() == null) {
				// No heartbeats are sent, so their last answer is out of date.
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

	/** Before shards start: one that is paused starts paused. */
	private void directivesRead() {
		Directives read = this.directives.known();
		Objects.requireNonNull(this.consumption).directivesChanged(read);
		this.leader.handle(new LeaderEvent.DirectivesRead(read));
	}

	/** Runs after a failed pass, too, so that all members know the reason. */
	private void publishGroupProblems() {
		MemberId self = this.membership.member();
		List<GroupProblem> found = this.leader.problems();
		Optional<String> refused = this.storeProblem.lasting(this.clock.now());
		if (self == null || !this.leading || found == null && refused.isEmpty()) {
			return;
		}
		List<GroupProblem> problems = new ArrayList<>((found != null) ? found : List.of());
		String directiveProblem = this.directives.problem();
		if (found != null && directiveProblem != null) {
			problems.add(new GroupProblem(false, "directives", directiveProblem, ""));
		}
		refused.ifPresent((text) -> problems.add(new GroupProblem(true, "store",
				"Shards that have an owner are consumed, but cannot move: the store refuses the leader's commands: "
						+ text,
				"")));
		try {
			this.problems.publish(self, this.leader.epoch(), problems);
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
		return this.membership.member() == null && !this.holdings.isEmpty();
	}

	private @Nullable MonotonicTime wakeAt() {
		if (!this.events.isEmpty()) {
			return this.clock.now();
		}
		return MonotonicTime.earliestOf(this.joinAt, this.directives.isRead() ? this.leader.wakeAt() : null,
				(this.membership.member() != null) ? this.directives.wakeAt() : null,
				this.holdings.wakeAt(this.membership.member()),
				(this.membership.member() != null) ? this.loads.wakeAt() : null,
				(isBetweenSessions() && !this.lease.isEnded()) ? this.lease.endsAt() : null,
				(this.departure != null && !(isBetweenSessions() && this.lease.isHeld(this.clock.now())))
						? this.departure.wakeAt() : null);
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
		if (this.departure != null) {
			this.departure.sessionBegun();
		}
	}

	/** Excludes a member whose loop stands still, or whose decisions fail. */
	private boolean isFitToLead() {
		return this.lastProgress.until(this.clock.now()).compareTo(this.settings.lease()) < 0
				&& !this.leader.isFailing(this.settings.lease());
	}

	private void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
		if (!this.membership.is(member)) {
			return;
		}
		this.storeProblem.answered(this.clock.now());
		this.storeProblem.sessionAnswered(member, this.clock.now());
		this.membership.longestLeaseChanged(Duration.ofMillis(reply.longestLeaseMillis()));
		if (reply.lost()) {
			this.holdings.writesLost();
			this.loads.reportAllAgain();
			this.membership.describeAgain();
			this.shardProblems.writesLost();
			this.directives.changedHere();
		}
		try {
			this.holdings.ownershipsChanged(reply.changes(), member);
		}
		catch (Throwable ex) {
			// The store counts these changes as delivered: request them again.
			this.heartbeats.requestAllChanges();
			throw ex;
		}
		this.holdings.answered(reply);
		this.problems.answered(reply, member, sentAt);
		this.directives.answered(reply);
		this.leader.handle(new LeaderEvent.HeartbeatAnswered(reply, member, sentAt));
		if (this.leading != this.leader.leads()) {
			this.leading = this.leader.leads();
			logger.info(this.leading ? "Leads group '{}' (epoch {})" : "No longer leads group '{}' (epoch {})",
					this.settings.group(), reply.epoch());
		}
		this.sessionListeners
			.forEach((listener) -> listener.heartbeatAnswered(member, reply.membership(), reply.lost()));
		this.membership.keepSubscribed(reply.subscribed(), sentAt);
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
			this.heartbeatEvents.leaseEnded();
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
		this.leading = false;
		this.leader.sessionLost();
		this.problems.sessionLost();
	}

	private void depart(Departure departing) {
		MonotonicTime now = this.clock.now();
		if (restoresHoldings() && (this.lease.isHeld(now) || !departing.isImpatient(now))) {
			return;
		}
		MemberId self = this.membership.member();
		if (self != null && this.lease.isEnded() && this.holdings.isEmpty()) {
			// The session has just begun: without this the group waits for its expiry.
			leaveGroup(self, departing);
			return;
		}
		if (self == null || !isConnected()) {
			// Without a lease nothing runs, and nothing can be committed.
			departed(departing);
			return;
		}
		if (departing.hurriesNow(this.clock.now())) {
			this.holdings.leaveWithoutPlan();
		}
		if (!departing.isAnnounced()) {
			announce(self);
			departing.announced();
		}
		if (this.holdings.isEmpty()) {
			leaveGroup(self, departing);
		}
	}

	/** Before a restart no shard moves: the member drains all of them itself. */
	private void announce(MemberId self) {
		if (this.settings.restartsInPlace()) {
			this.store.announceRestart(self);
			this.holdings.leaveWithoutPlan();
		}
		else {
			this.store.announceLeave(self);
		}
	}

	private void leaveGroup(MemberId self, Departure departing) {
		this.leader.leaving(self);
		this.heartbeats.endSession();
		this.shardProblems.leaves(self);
		try {
			if (this.settings.restartsInPlace()) {
				this.store.leaveForRestart(self, this.settings.handover().quietPeriod(), this.settings.awayTimeout());
				logger.info("Left group '{}' for a restart; its shards are kept for {} ms", this.settings.group(),
						this.settings.awayTimeout().toMillis());
			}
			else {
				this.store.leaveGroup(self, this.settings.handover().quietPeriod());
				logger.info("Left group '{}'", this.settings.group());
			}
		}
		finally {
			// If the store did not get the message, the closed subscription shows it.
			departed(departing);
		}
	}

	private boolean restoresHoldings() {
		return isBetweenSessions() || this.membership.member() != null && this.holdings.isPresenting();
	}

	private void departed(Departure departing) {
		this.departure = null;
		try {
			this.holdings.stopped();
			endSession();
		}
		finally {
			departing.departed();
		}
	}

	private static final class Departure {

		private final MonotonicTime patienceEndsAt;

		private final CompletableFuture<Void> departed;

		private boolean announced;

		private boolean hurried;

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

		/** Has the departure announced again. */
		void sessionBegun() {
			this.announced = false;
		}

		boolean isImpatient(MonotonicTime now) {
			return !now.isBefore(this.patienceEndsAt);
		}

		/** Returns {@code true} once, when the patience has ended. */
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

		@Nullable MonotonicTime wakeAt() {
			return this.hurried ? null : this.patienceEndsAt;
		}

	}

	private final class HeartbeatEvents implements HeartbeatScheduler.Listener {

		/** Whether the end of the lease was reported, but not yet its renewal. */
		private final AtomicBoolean ended = new AtomicBoolean();

		@Override
		public void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
			post(() -> CoordinatorLoop.this.heartbeatAnswered(member, reply, sentAt));
		}

		@Override
		public void heartbeatFailed(MemberId member, StoreUnavailableException failure) {
			post(() -> {
				CoordinatorLoop.this.storeProblem.unavailable(failure, CoordinatorLoop.this.clock.now());
				CoordinatorLoop.this.leader.handle(new LeaderEvent.HeartbeatFailed());
				CoordinatorLoop.this.membership.describeAgain();
			});
		}

		@Override
		public void sessionExpired(MemberId member) {
			post(() -> CoordinatorLoop.this.sessionExpired(member));
		}

		@Override
		public void leaseEnded() {
			if (this.ended.compareAndSet(false, true)) {
				logger.warn("The lease in group '{}' has ended: nothing is consumed until a heartbeat is answered",
						CoordinatorLoop.this.settings.group());
				Objects.requireNonNull(CoordinatorLoop.this.consumption).suspend();
				CoordinatorLoop.this.sessionListeners.forEach(SessionListener::leaseEnded);
				if (CoordinatorLoop.this.lease.isHeld(CoordinatorLoop.this.clock.now())) {
					// Another thread renewed it and reported that before the end.
					handOutResumed();
				}
			}
		}

		@Override
		public void handOutResumed() {
			if (this.ended.compareAndSet(true, false)) {
				logger.info("The lease in group '{}' is held again", CoordinatorLoop.this.settings.group());
			}
			Objects.requireNonNull(CoordinatorLoop.this.consumption).resume();
			CoordinatorLoop.this.sessionListeners.forEach(SessionListener::leaseResumed);
		}

	}

}
