package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.HeartbeatReply;
import io.github.shardkeeper.handover.Leadership;
import io.github.shardkeeper.handover.Lease;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;

/**
 * One member of one group: joins, learns from its heartbeats which shards it owns, has
 * them consumed, gives them up when they move, and leads the group while it is elected.
 * <p>
 * Everything is decided by {@link ShardHoldings} and {@link Leadership} on one loop,
 * which carries their actions out and feeds back what came of them. User code never runs
 * on it. Thread-safe.
 */
public final class ShardCoordinator implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ShardCoordinator.class);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private static final Duration MISCONFIGURED_RETRY_PAUSE = Duration.ofSeconds(5);

	/** In one line of the log. */
	private static final int MOST_NAMED = 10;

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final Lease lease;

	private final MemberRuntime runtime;

	private final MonotonicClock clock;

	private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();

	private final HoldingDriver holdings;

	private final Reconciliation reconciliation;

	private final LoadReporter loads;

	private final Leadership leadership;

	private final LeaderDriver leader;

	private final Membership membership;

	private final HeartbeatEvents heartbeatEvents = new HeartbeatEvents();

	private volatile boolean leading;

	private volatile Map<String, TopicShards> topics = Map.of();

	private final StoreTrouble trouble;

	private volatile MonotonicTime lastProgress;

	private @Nullable MonotonicTime joinAt;

	private @Nullable Departure departure;

	private @Nullable ShardConsumption consumption;

	private volatile Loops.@Nullable Loop loop;

	/**
	 * Creates a coordinator that is not started.
	 * @param settings what the member is configured with
	 * @param store the group's control plane
	 * @param heartbeats keeps the session alive
	 * @param lease the lease that the heartbeats renew
	 * @param assignment how shards are assigned while this member leads
	 * @param runtime clock, loops and random numbers
	 */
	public ShardCoordinator(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats,
			Lease lease, AssignmentSettings assignment, MemberRuntime runtime) {
		this.settings = settings;
		this.trouble = new StoreTrouble(settings.group());
		this.store = store;
		this.heartbeats = heartbeats;
		this.lease = lease;
		this.runtime = runtime;
		this.clock = runtime.clock();
		this.membership = new Membership(settings, assignment.name(), store, heartbeats, runtime.random(), this.clock);
		this.holdings = new HoldingDriver(settings, store, this.clock);
		this.reconciliation = new Reconciliation(this.holdings, heartbeats, lease, this.clock);
		this.leader = new LeaderDriver(settings, assignment, () -> this.topics, store, this.clock, () -> post(() -> {
		}), () -> this.lastProgress = this.clock.now());
		this.leadership = this.leader.leadership();
		this.lastProgress = this.clock.now();
		this.loads = new LoadReporter(assignment, heartbeats, this.lastProgress);
	}

	/**
	 * Joins the group. When the store is away it keeps trying.
	 * @param topics the topics that the member consumes, with their shards
	 * @param consumption consumes the shards that the member gets
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * store can never be used as it is configured
	 */
	public void start(Map<String, TopicShards> topics, ShardConsumption consumption) {
		this.topics = Map.copyOf(topics);
		this.consumption = consumption;
		forgetEarlierRun(consumption);
		this.heartbeats.start(this.heartbeatEvents);
		try {
			join();
		}
		catch (StoreUnavailableException ex) {
			this.trouble.unavailable(ex);
		}
		// An application without a web server has nothing else that keeps it running.
		this.loop = this.runtime.loops().startForeground("shardkeeper-coordinator", this::pass);
	}

	/**
	 * The topics have other shards than before: new ones are assigned at once, and who
	 * leads learns of them even if its own source is behind. Shards are never taken back:
	 * those that have an owner come to their end when their reader says so.
	 * @param changed all topics that the member consumes, the same as at the start, with
	 * their shards as they are now
	 */
	public void shardsChanged(Map<String, TopicShards> changed) {
		Map<String, TopicShards> current = Map.copyOf(changed);
		post(() -> {
			if (!current.equals(this.topics)) {
				this.topics = current;
				this.leadership.shardsChanged(this.clock.now());
			}
		});
	}

	/** A stop that ran out of time has left something behind. */
	private void forgetEarlierRun(ShardConsumption consumption) {
		this.events.clear();
		this.departure = null;
		this.joinAt = null;
		this.holdings.start(consumption);
		this.reconciliation.begin(false);
		this.leader.sessionLost();
		this.lastProgress = this.clock.now();
	}

	/**
	 * Leaves the group: announces it, keeps consuming while the leader moves the shards
	 * away one by one, and is gone when the last one is released. After half the time, or
	 * at once when the store is away, what is left is given up without waiting for the
	 * leader; at the end the process stops beating with whatever is still held, and is
	 * reaped by the others.
	 * @param timeout how long this may take
	 */
	public void stop(Duration timeout) {
		if (this.loop == null) {
			return;
		}
		try {
			leave(timeout.dividedBy(2)).get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException | ExecutionException ex) {
			logger.warn("Could not give up all shards of group '{}' within {} ms; leaving with what is held{}",
					this.settings.group(), timeout.toMillis(), held());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		close();
	}

	/** Which shards that is, and why; or what else it was. */
	private String held() {
		Map<ShardId, String> problems = Objects.requireNonNull(this.consumption).problems();
		StringJoiner text = new StringJoiner("; ", ": ", "").setEmptyValue("");
		problems.entrySet()
			.stream()
			.limit(MOST_NAMED)
			.forEach((problem) -> text.add(problem.getKey() + " (" + problem.getValue() + ")"));
		if (problems.size() > MOST_NAMED) {
			text.add("and " + (problems.size() - MOST_NAMED) + " more");
		}
		trouble().ifPresent(text::add);
		return text.toString();
	}

	/**
	 * Begins to leave the group, as {@link #stop} does.
	 * @param patience how long to wait for the leader to move the shards away
	 * @return completes when the member is gone
	 */
	public CompletableFuture<Void> leave(Duration patience) {
		CompletableFuture<Void> departed = new CompletableFuture<>();
		post(() -> this.departure = new Departure(this.clock.now().plus(patience), departed));
		return departed;
	}

	/**
	 * Ends the loop and the heartbeats without telling anybody.
	 */
	@Override
	public void close() {
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

	/**
	 * Tells that a worker has ended; see {@link ShardConsumption.Listener}.
	 * @return the listener to give to the consumption
	 */
	public ShardConsumption.Listener consumptionListener() {
		return (shard, token, fence,
				completed) -> post(() -> this.holdings.workerEnded(shard, token, fence, completed));
	}

	/**
	 * This member's id in the current session.
	 * @return the id, empty while it is not in the group
	 */
	public Optional<MemberId> member() {
		return Optional.ofNullable(this.membership.member());
	}

	/**
	 * Whether this member leads the group. At most one member of a group does, as far as
	 * clocks go: what must not be done twice needs a fence of its own.
	 * @return whether it leads and its lease is held
	 */
	public boolean isLeader() {
		return this.leading && isConnected();
	}

	/**
	 * Whether the member's lease is held: the store answers, shards are consumed.
	 * @return whether it is
	 */
	public boolean isConnected() {
		return this.membership.member() != null && this.lease.isHeld(this.clock.now());
	}

	/**
	 * The shards of the group that nobody has consumed for longer than they should stand
	 * still, as far as this member knows: it does while it leads.
	 * @return a sentence with the reason for each
	 */
	public SortedMap<ShardId, String> unattended() {
		return isConnected() ? this.leader.unattended().overdue(this.clock.now()) : new TreeMap<>();
	}

	/**
	 * Why a shard is where it is, or is to go where it goes, by the last plan: who leads
	 * knows.
	 * @param shard the shard
	 * @return a sentence; empty for who does not lead, or has not planned yet
	 */
	public Optional<String> why(ShardId shard) {
		return isLeader() ? this.leader.why(shard) : Optional.empty();
	}

	/**
	 * What is wrong with the assignment strategy, as far as this member knows: it does
	 * while it leads.
	 * @return what is wrong and what to do; empty while it works
	 */
	public Optional<String> assignmentProblem() {
		return isConnected() ? this.leader.assignmentProblem() : Optional.empty();
	}

	/**
	 * Whether what is done for each shard is to be measured, because the assignment
	 * strategy looks at loads.
	 * @return whether {@link ShardConsumption#work} will be asked
	 */
	public boolean measuresLoads() {
		return this.loads.isWanted();
	}

	/**
	 * Why the member is not connected, as far as it knows.
	 * @return the last failure since the store answered last
	 */
	public Optional<String> trouble() {
		return Optional.ofNullable(this.trouble.text());
	}

	/**
	 * What the store has refused for long, although it answers heartbeats: a plan, for
	 * example, while this member leads.
	 * @return what is wrong and what to do
	 */
	public Optional<String> refusedByStore() {
		return isConnected() ? this.trouble.lasting(this.clock.now()) : Optional.empty();
	}

	/**
	 * What this member is configured with.
	 * @return the settings
	 */
	public CoordinationSettings settings() {
		return this.settings;
	}

	private void post(Runnable event) {
		this.events.add(event);
		Loops.Loop running = this.loop;
		if (running != null) {
			running.wake();
		}
	}

	/**
	 * One round of the loop: the events that are there or a deadline, then all that
	 * follows from them. Many workers that end while a release is being answered are
	 * released together then.
	 */
	private @Nullable MonotonicTime pass() {
		try {
			runEvents();
			MonotonicTime now = this.clock.now();
			if (isBetweenSessions() && !this.lease.isHeld(now)) {
				// What was to be taken along is not held any more.
				this.heartbeatEvents.leaseEnded();
				endSession();
			}
			if (this.joinAt != null && !now.isBefore(this.joinAt) && (this.departure == null || isBetweenSessions())) {
				join();
			}
			MemberId self = this.membership.member();
			if (self != null) {
				this.reconciliation.run(self);
			}
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
			this.trouble.stepFailed(ex, this.clock.now());
		}
		catch (ShardkeeperConfigurationException ex) {
			// Found only now because the store was away at the start.
			this.trouble.misconfigured(ex.getMessage());
			this.joinAt = (this.membership.member() != null) ? null : this.clock.now().plus(MISCONFIGURED_RETRY_PAUSE);
		}
		return wakeAt();
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
	 * Whether shards are held under the lease of a session that the store has forgotten.
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
				this.holdings.wakeAt(this.membership.member()), this.reconciliation.wakeAt(),
				(this.membership.member() != null) ? this.loads.wakeAt() : null,
				isBetweenSessions() ? this.lease.endsAt() : null,
				(this.departure != null && !isBetweenSessions()) ? this.departure.wakeAt() : null }) {
			wake = (wake == null || time != null && time.isBefore(wake)) ? time : wake;
		}
		return wake;
	}

	private void join() {
		// Cleared only on success: a failure of any kind tries again.
		this.joinAt = this.clock.now().plus(RETRY_PAUSE);
		this.store.verify();
		MemberId joined = this.membership.join(this.topics);
		boolean withClaims = false;
		if (isBetweenSessions()) {
			// Before the new session's heartbeats renew the lease: what is not granted
			// must not be consumed any longer than the old one permits.
			withClaims = this.holdings.claimUnconfirmed(joined, this.lease.isHeld(this.clock.now()));
		}
		this.reconciliation.begin(withClaims);
		this.loads.tellAllAgain();
		this.membership.begin(joined, withClaims, this::isFitToLead);
		this.joinAt = null;
		if (this.departure != null) {
			this.departure.sessionBegun();
		}
	}

	/**
	 * Who no longer completes a pass and gets no answers either, or decides nothing
	 * because it fails, must not lead.
	 */
	private boolean isFitToLead() {
		return this.lastProgress.until(this.clock.now()).compareTo(this.settings.lease()) < 0
				&& !this.leader.isFailing(this.settings.lease());
	}

	private void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
		if (!this.membership.is(member)) {
			return;
		}
		this.trouble.answered(this.clock.now());
		this.reconciliation.answered(reply);
		if (reply.lost()) {
			this.loads.tellAllAgain();
			this.membership.describeAgain();
		}
		try {
			this.holdings.told(reply.changes(), member);
		}
		catch (Throwable ex) {
			// The store counts these news as heard: without this they would never come
			// again.
			this.heartbeats.tellAllAgain();
			throw ex;
		}
		this.reconciliation.told(reply);
		this.leadership.heartbeatAnswered(reply, member, sentAt, this.clock.now());
		if (this.leading != this.leadership.leads()) {
			this.leading = this.leadership.leads();
			logger.info(this.leading ? "Leads group '{}' (epoch {})" : "No longer leads group '{}' (epoch {})",
					this.settings.group(), reply.epoch());
		}
		this.membership.keepSubscribed(reply.subscribed(), sentAt);
	}

	private void sessionExpired(MemberId member) {
		if (!this.membership.is(member)) {
			return;
		}
		if (this.lease.isHeld(this.clock.now())) {
			logger.warn("The store does not know the session of {} in group '{}' any more, so it has lost its data. "
					+ "Joining anew with what is held", member, this.settings.group());
			this.membership.forgotten();
			leadsNoMore();
			this.holdings.sessionForgotten();
		}
		else {
			// If the watch over the lease has not told it yet, it would not any more.
			this.heartbeatEvents.leaseEnded();
			logger.warn("The session of {} in group '{}' is over: its shards were given to others, or the store has "
					+ "lost its data. Joining anew", member, this.settings.group());
			endSession();
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
	}

	private void depart(Departure departing) {
		if (isBetweenSessions()) {
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
				this.store.leave(self, this.settings.handover().quietPeriod());
				logger.info("Left group '{}'", this.settings.group());
			}
			finally {
				// If the store did not hear it, the closed subscription tells.
				departed(departing);
			}
		}
	}

	private void departed(Departure departing) {
		this.departure = null;
		endSession();
		departing.departed();
	}

	private final class HeartbeatEvents implements HeartbeatScheduler.Listener {

		/** Whether the end of the lease was told, and not yet that it is held again. */
		private final AtomicBoolean ended = new AtomicBoolean();

		@Override
		public void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
			post(() -> ShardCoordinator.this.heartbeatAnswered(member, reply, sentAt));
		}

		@Override
		public void heartbeatFailed(MemberId member, StoreUnavailableException failure) {
			post(() -> {
				ShardCoordinator.this.trouble.unavailable(failure);
				ShardCoordinator.this.leadership.heartbeatFailed();
				ShardCoordinator.this.membership.describeAgain();
			});
		}

		@Override
		public void sessionExpired(MemberId member) {
			post(() -> ShardCoordinator.this.sessionExpired(member));
		}

		@Override
		public void leaseEnded() {
			if (this.ended.compareAndSet(false, true)) {
				logger.warn("The lease in group '{}' has ended: nothing is consumed until a heartbeat is answered",
						ShardCoordinator.this.settings.group());
				Objects.requireNonNull(ShardCoordinator.this.consumption).suspend();
			}
		}

		@Override
		public void handOutResumed() {
			if (this.ended.compareAndSet(true, false)) {
				logger.info("The lease in group '{}' is held again", ShardCoordinator.this.settings.group());
			}
			Objects.requireNonNull(ShardCoordinator.this.consumption).resume();
		}

	}

}
