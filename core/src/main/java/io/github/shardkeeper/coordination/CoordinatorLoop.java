package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.LeaderEvent;
import io.github.shardkeeper.protocol.Leadership;
import io.github.shardkeeper.protocol.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The one loop on which a member decides. {@link ShardHoldings} and {@link Leadership}
 * say what to do; their drivers do it and feed back what came of it. User code never runs
 * on it. What is posted to it, and what it publishes, may be used on any thread; all the
 * rest is confined to the loop.
 */
final class CoordinatorLoop {

	private static final Logger logger = LoggerFactory.getLogger(CoordinatorLoop.class);

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

	private final HeartbeatEvents heartbeatEvents = new HeartbeatEvents();

	private volatile boolean leading;

	private volatile Map<String, TopicShards> topics = Map.of();

	private final StoreAvailability storeProblem;

	private volatile MonotonicTime lastProgress;

	private @Nullable MonotonicTime joinAt;

	private @Nullable Departure departure;

	private @Nullable ShardConsumption consumption;

	private volatile Loops.@Nullable Loop loop;

	/** Creates a loop that is not started. */
	CoordinatorLoop(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats, Lease lease,
			AssignmentSettings assignment, MemberRuntime runtime) {
		this.settings = settings;
		this.storeProblem = new StoreAvailability(settings.group(), settings.lease());
		this.store = store;
		this.heartbeats = heartbeats;
		this.lease = lease;
		this.runtime = runtime;
		this.clock = runtime.clock();
		this.membership = new Membership(settings, assignment.name(), store, heartbeats, runtime.random(), this.clock);
		this.problems = new GroupProblemPublisher(settings, store);
		this.holdings = new HoldingDriver(settings, store, heartbeats, lease, this.clock);
		this.leader = new LeaderDriver(settings, assignment, () -> this.topics, store, this.clock, () -> post(() -> {
		}), () -> this.lastProgress = this.clock.now());
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
			this.storeProblem.unavailable(ex);
		}
		// An application without a web server has nothing else that keeps it running.
		Loops.Loop started = this.runtime.loops().startForeground("shardkeeper-coordinator", this::pass);
		this.loop = started;
		// What was posted before, perhaps after the first pass, has woken nobody.
		started.wake();
	}

	/** Drops what a stop that ran out of time has left behind. */
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

	CompletableFuture<Void> leave(Duration patience) {
		CompletableFuture<Void> departed = new CompletableFuture<>();
		post(() -> this.departure = new Departure(this.clock.now().plus(patience), departed));
		return departed;
	}

	void workerEnded(ShardId shard, Token token, Token fence, boolean completed) {
		// If a new session begins meanwhile the store was emptied, perhaps of what the
		// shard has come to as well, and nobody is there any more to write it back: then
		// the next owner finds out whether it is at its end.
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

	Optional<String> durabilityProblem() {
		return this.store.durabilityProblem();
	}

	Map<String, String> refusedOperations() {
		return this.store.refusedOperations();
	}

	boolean isConnected() {
		return this.membership.member() != null && this.lease.isHeld(this.clock.now());
	}

	/** Returns whether it is elected, by what it has heard last. */
	boolean isElected() {
		return this.leading;
	}

	LeaderDriver leader() {
		return this.leader;
	}

	List<GroupProblem> groupProblems() {
		return this.problems.known();
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
	 * Runs the events that are there, then all that follows from them. Many workers that
	 * end while a release is being answered are released together then.
	 */
	private @Nullable MonotonicTime pass() {
		try {
			runEvents();
			MonotonicTime now = this.clock.now();
			if (isBetweenSessions() && !this.lease.isEnded() && !this.lease.isHeld(now)) {
				// What was to be claimed can only be presented from now on.
				this.heartbeatEvents.leaseEnded();
				this.heartbeats.endSession();
			}
			if (this.joinAt != null && !now.isBefore(this.joinAt) && (this.departure == null || isBetweenSessions())) {
				join();
			}
			MemberId self = this.membership.member();
			this.holdings.run(self);
			this.leader.run(self);
			if (self != null) {
				this.loads.run(Objects.requireNonNull(this.consumption), this.clock.now());
				this.membership.describe(this.topics);
			}
			if (this.departure != null) {
				depart(this.departure);
			}
			this.lastProgress = this.clock.now();
		}
		catch (StoreUnavailableException ex) {
			if (this.membership.member() == null) {
				// Nobody beats: what the last heartbeat was told is out of date.
				this.storeProblem.unavailable(ex);
			}
			else {
				this.storeProblem.stepFailed(ex, this.clock.now());
			}
		}
		catch (ShardkeeperConfigurationException ex) {
			// Found only now because the store was away at the start.
			this.storeProblem.misconfigured(ex.getMessage());
			this.joinAt = (this.membership.member() != null) ? null : this.clock.now().plus(MISCONFIGURED_RETRY_PAUSE);
		}
		tellGroupProblems();
		return wakeAt();
	}

	/** Also after a pass that has failed: others could not know why. */
	private void tellGroupProblems() {
		MemberId self = this.membership.member();
		List<GroupProblem> found = this.leader.problems();
		Optional<String> refused = this.storeProblem.lasting(this.clock.now());
		if (self == null || !this.leading || found == null && refused.isEmpty()) {
			return;
		}
		List<GroupProblem> problems = new ArrayList<>((found != null) ? found : List.of());
		refused.ifPresent((text) -> problems.add(new GroupProblem(true, "store",
				"Shards that have an owner are consumed, but cannot move: the store refuses the leader's commands: "
						+ text,
				"")));
		try {
			this.problems.publish(self, this.leader.epoch(), problems, this.clock.now());
		}
		catch (StoreUnavailableException ex) {
			this.storeProblem.stepFailed(ex, this.clock.now());
		}
	}

	/** No more than there are now: deadlines must not wait for those that follow. */
	private void runEvents() {
		for (int left = this.events.size(); left > 0; left--) {
			Runnable event = this.events.poll();
			if (event != null) {
				event.run();
			}
		}
	}

	/**
	 * Returns whether shards are held, or were when the lease ended, in a session that
	 * the store does not know any more.
	 */
	private boolean isBetweenSessions() {
		return this.membership.member() == null && !this.holdings.isEmpty();
	}

	private @Nullable MonotonicTime wakeAt() {
		if (!this.events.isEmpty()) {
			return this.clock.now();
		}
		MonotonicTime wake = null;
		for (MonotonicTime time : new @Nullable MonotonicTime[] { this.joinAt, this.leader.wakeAt(),
				this.holdings.wakeAt(this.membership.member()),
				(this.membership.member() != null) ? this.loads.wakeAt() : null,
				(isBetweenSessions() && !this.lease.isEnded()) ? this.lease.endsAt() : null,
				(this.departure != null && !(isBetweenSessions() && this.lease.isHeld(this.clock.now())))
						? this.departure.wakeAt() : null }) {
			wake = (wake == null || time != null && time.isBefore(wake)) ? time : wake;
		}
		return wake;
	}

	private void join() {
		// Cleared only on success: a failure of any kind tries again.
		this.joinAt = this.clock.now().plus(RETRY_PAUSE);
		this.store.verify();
		MemberId joined = this.membership.join(this.topics);
		boolean unconfirmed = this.holdings.joined(joined);
		this.loads.reportAllAgain();
		this.membership.begin(joined, unconfirmed, this::isFitToLead);
		this.storeProblem.sessionBegun(this.clock.now());
		this.joinAt = null;
		if (this.departure != null) {
			this.departure.sessionBegun();
		}
	}

	/**
	 * Returns whether this member may be elected. One that no longer completes a pass, or
	 * decides nothing because it fails, must not lead.
	 */
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
		}
		try {
			this.holdings.ownershipsChanged(reply.changes(), member);
		}
		catch (Throwable ex) {
			// The store counts these news as heard: without this they would never come
			// again.
			this.heartbeats.requestAllChanges();
			throw ex;
		}
		this.holdings.answered(reply);
		this.problems.answered(reply, member, sentAt, this.clock.now());
		this.leader.handle(new LeaderEvent.HeartbeatAnswered(reply, member, sentAt));
		if (this.leading != this.leader.leads()) {
			this.leading = this.leader.leads();
			logger.info(this.leading ? "Leads group '{}' (epoch {})" : "No longer leads group '{}' (epoch {})",
					this.settings.group(), reply.epoch());
		}
		this.membership.keepSubscribed(reply.subscribed(), sentAt);
	}

	private void sessionExpired(MemberId member) {
		if (!this.membership.is(member)) {
			return;
		}
		Level level = this.storeProblem.sessionLost() ? Level.WARN : Level.DEBUG;
		if (this.lease.isHeld(this.clock.now())) {
			logger.atLevel(level)
				.log("The store does not know the session of {} in group '{}' any more, so it has lost its data. "
						+ "Rejoining with the shards that are held", member, this.settings.group());
			this.membership.forgotten();
			leadsNoMore();
			this.holdings.sessionForgotten();
		}
		else {
			// If the watch over the lease has not told it yet, it would not any more.
			this.heartbeatEvents.leaseEnded();
			logger.atLevel(level)
				.log("The session of {} in group '{}' is over: its shards were given to others, or the store has "
						+ "lost its data. Rejoining", member, this.settings.group());
			this.membership.end();
			leadsNoMore();
			// Which of both it is, the store tells when what was held is presented.
			this.holdings.sessionForgotten();
		}
		this.joinAt = this.clock.now();
	}

	private void endSession() {
		this.membership.end();
		leadsNoMore();
		this.holdings.sessionLost();
	}

	private void leadsNoMore() {
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
		if (self == null || !isConnected()) {
			// Without a lease nothing runs, and nothing could be committed either.
			departed(departing);
			return;
		}
		if (departing.hurriesNow(this.clock.now())) {
			this.holdings.leaveWithoutPlan();
		}
		if (!departing.isAnnounced()) {
			this.store.announceLeave(self);
			departing.announced();
		}
		if (this.holdings.isEmpty()) {
			this.heartbeats.endSession();
			try {
				this.store.leaveGroup(self, this.settings.handover().quietPeriod());
				logger.info("Left group '{}'", this.settings.group());
			}
			finally {
				// If the store did not hear it, the closed subscription tells.
				departed(departing);
			}
		}
	}

	/** Returns whether the store may get back what it has lost and is held here. */
	private boolean restoresHoldings() {
		return isBetweenSessions() || this.membership.member() != null && this.holdings.isPresenting();
	}

	private void departed(Departure departing) {
		this.departure = null;
		this.holdings.stopped();
		endSession();
		departing.departed();
	}

	/** How far this member has come with leaving its group. */
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

		/** The group does not know of it any more. */
		void sessionBegun() {
			this.announced = false;
		}

		boolean isImpatient(MonotonicTime now) {
			return !now.isBefore(this.patienceEndsAt);
		}

		/** Returns once that patience has ended. */
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

		/** Whether the end of the lease was told, and not yet that it is held again. */
		private final AtomicBoolean ended = new AtomicBoolean();

		@Override
		public void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
			post(() -> CoordinatorLoop.this.heartbeatAnswered(member, reply, sentAt));
		}

		@Override
		public void heartbeatFailed(MemberId member, StoreUnavailableException failure) {
			post(() -> {
				CoordinatorLoop.this.storeProblem.unavailable(failure);
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
				if (CoordinatorLoop.this.lease.isHeld(CoordinatorLoop.this.clock.now())) {
					// It was renewed on another thread meanwhile, and that was told
					// before its end.
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
		}

	}

}
