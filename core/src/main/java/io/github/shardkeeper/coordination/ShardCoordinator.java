package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.coordination.leader.ShardTraitsCache;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.SessionListener;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ListedShards;
import io.github.shardkeeper.protocol.leader.Planner;
import io.github.shardkeeper.protocol.leader.Planner.ExpectedMove;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * A member of a group: joins, learns from heartbeats which shards it owns, has them
 * consumed, releases them when they move, and leads the group while it is elected. All
 * decisions are made on one loop, on which user code never runs. Thread-safe.
 */
public final class ShardCoordinator implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ShardCoordinator.class);

	private static final int MOST_NAMED = 10;

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final Lease lease;

	private final MonotonicClock clock;

	private final CoordinatorLoop loop;

	private final AssignmentSettings assignment;

	private final List<Supplier<List<ProblemReport>>> problems = new CopyOnWriteArrayList<>();

	private @Nullable ShardConsumption consumption;

	/**
	 * Creates a coordinator that is not started.
	 * @param assignment the settings for assigning shards while this member leads
	 */
	public ShardCoordinator(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats,
			Lease lease, AssignmentSettings assignment, MemberRuntime runtime) {
		this.settings = settings;
		this.store = store;
		this.lease = lease;
		this.clock = runtime.clock();
		this.assignment = assignment;
		this.loop = new CoordinatorLoop(settings, store, heartbeats, lease, assignment, runtime);
	}

	/**
	 * Joins the group. Retries while the store is unavailable. A member without shards
	 * keeps its session, and gets shards from now on.
	 * @param topics the topics that the member consumes, with their shards
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the store
	 * can never be used with its configuration
	 */
	public synchronized void start(Map<String, TopicShards> topics, ShardConsumption consumption) {
		this.consumption = consumption;
		if (this.loop.isRunning()) {
			this.loop.consume(topics, consumption);
		}
		else {
			this.loop.start(topics, consumption);
		}
	}

	/**
	 * Joins the group as a member that consumes no topic, unless it is running.
	 * @return whether it was not running
	 */
	public synchronized boolean startWithoutShards() {
		if (this.loop.isRunning()) {
			return false;
		}
		start(Map.of(), new NoShards());
		return true;
	}

	/** Returns whether the coordinator was started and not closed since. */
	public boolean isRunning() {
		return this.loop.isRunning();
	}

	/**
	 * Sets what is checked before each join, on the thread that joins. An exception keeps
	 * this member out of the group, and the join is tried again later: a
	 * {@link io.github.shardkeeper.shard.ShardkeeperConfigurationException} fails a
	 * start, a {@link io.github.shardkeeper.StoreUnavailableException} does not.
	 */
	public void beforeJoin(Runnable check) {
		this.loop.beforeJoin(check);
	}

	/** Adds a listener to the sessions that begin from now on. */
	public void addSessionListener(SessionListener listener) {
		this.loop.addSessionListener(listener);
	}

	/**
	 * Adds a listener to the moves of shards. It is called while this member leads, with
	 * what has changed since the leader read the group before, on the coordinator's
	 * thread; must not block.
	 */
	public void addMoveListener(Consumer<List<ShardMove>> listener) {
		this.loop.leader().addMoveListener(listener);
	}

	/**
	 * Sets who receives the time that the strategy has taken for each assignment, while
	 * this member leads, on the coordinator's thread; must not block.
	 */
	public void onPlan(Consumer<Duration> listener) {
		this.loop.leader().onPlan(listener);
	}

	/**
	 * Updates the topics that the member consumes, with their shards. Of a topic that is
	 * left out, the leader moves the member's shards to others. New shards are assigned
	 * at once, also if the leader's own source does not know them yet. Shards are never
	 * removed: one with an owner is completed when its reader has reached the end.
	 */
	public void shardsChanged(Map<String, TopicShards> changed) {
		this.loop.shardsChanged(changed);
	}

	/**
	 * Passes on which shards take new records, after each new list: the leader reports
	 * completed shards that are open again.
	 */
	public void shardsListed(Map<String, ListedShards> open) {
		this.loop.shardsListed(open);
	}

	/**
	 * Leaves the group: announces it, continues to consume while the leader moves the
	 * shards away, and ends when the last one is released. After half the time, or at
	 * once if the store is unavailable, the remaining shards are drained without waiting
	 * for the leader. After the whole time heartbeats stop, and the leader removes the
	 * member.
	 */
	public void stop(Duration timeout) {
		if (!this.loop.isRunning()) {
			return;
		}
		try {
			leave(timeout.dividedBy(2)).get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException | ExecutionException ex) {
			logger.warn(
					"Could not release all shards of group '{}' within {} ms; others get them when the lease has ended{}",
					this.settings.group(), timeout.toMillis(), held());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		close();
	}

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
		storeProblem().ifPresent(text::add);
		return text.toString();
	}

	/**
	 * Begins to leave the group, as {@link #stop} does.
	 * @param patience the time to wait for the leader to move the shards away
	 * @return a future that completes when the member has left
	 */
	public CompletableFuture<Void> leave(Duration patience) {
		return this.loop.leave(patience);
	}

	/** Ends the loop and the heartbeats without a call of the store. */
	@Override
	public void close() {
		this.loop.close();
	}

	/** Returns the listener to the ends of workers. */
	public ShardConsumption.Listener consumptionListener() {
		return this.loop::workerEnded;
	}

	/** Returns this member's id in the current session, empty outside a session. */
	public Optional<MemberId> member() {
		return Optional.ofNullable(this.loop.member());
	}

	/**
	 * Returns whether the member leads and holds its lease. Not guaranteed to be true on
	 * one member only, because clocks differ: work that must not be done twice needs a
	 * fence.
	 */
	public boolean isLeader() {
		return this.loop.leader().isElected() && isConnected();
	}

	/** Returns whether the lease is held: the store replies, and shards are consumed. */
	public boolean isConnected() {
		return this.loop.isConnected();
	}

	/**
	 * Adds problems that are reported with those of the group, although all shards are
	 * consumed.
	 * @param kind one word for the kind of problem
	 * @param found returns the problems that there are now; must not block
	 */
	public void addProblems(String kind, Supplier<Collection<String>> found) {
		this.problems
			.add(() -> found.get().stream().map((problem) -> new ProblemReport(false, kind, problem, "")).toList());
	}

	/**
	 * {@return the {@linkplain CoordinationStore#setupProblems() problems of the store's
	 * setup}, those {@linkplain #addProblems added}; and while the lease is held those
	 * that the leader has published, and those that this member's own heartbeats show}
	 */
	public List<ProblemReport> groupProblems() {
		Stream<ProblemReport> known = Stream
			.concat(this.store.setupProblems().stream(),
					isConnected() ? this.loop.groupProblems().stream() : Stream.empty())
			.map((problem) -> new ProblemReport(problem.serious(), problem.kind(), problem.sentence(),
					problem.concerned()));
		return Stream.concat(known, this.problems.stream().flatMap((found) -> found.get().stream())).toList();
	}

	/**
	 * Shares the problems of this member's shards, so that every instance can report
	 * them. Call it about once per second: it writes only what has changed, and waits for
	 * no reply. Does nothing outside a session. Confined to one thread at a time.
	 */
	public void shareProblems(Map<ShardId, String> problems) {
		this.loop.shareProblems(problems);
	}

	/** Returns the reason for a shard's place, if this member leads and has planned. */
	public Optional<String> why(ShardId shard) {
		return isLeader() ? this.loop.leader().why(shard) : Optional.empty();
	}

	/** Returns what operators want of the group, as this member follows it. */
	public Directives directives() {
		return this.loop.directives().known();
	}

	/** Returns why directives are not followed, or not all of them. */
	public Optional<String> directiveProblem() {
		return isConnected() ? Optional.ofNullable(this.loop.directives().problem()) : Optional.empty();
	}

	/**
	 * Returns the moves that the leader is expected to plan first. No promise: loads are
	 * not known here, and a strategy or catalog of the application is not asked.
	 * @param group the whole group
	 */
	public List<ExpectedMove> expectedMoves(GroupChanges group, Directives directives) {
		ShardTraitsCache traits = new ShardTraitsCache(this.assignment.catalog());
		AssignmentStrategy strategy = this.assignment.foreign() ? null
				: (request) -> this.assignment.strategy().assign(traits.addTo(request));
		return new Planner(this.settings.handover()).expectedMoves(group, this.loop.topics(), directives, strategy);
	}

	/** Returns whether {@link ShardConsumption#work} is called: loads are used. */
	public boolean measuresLoads() {
		return this.loop.measuresLoads();
	}

	/**
	 * Returns the time for which this member has had no lease, also before its first one.
	 * Up to a lease too short after the loss of a session.
	 * @return the time; empty while the lease is held
	 */
	public Optional<Duration> withoutLeaseFor() {
		if (isConnected()) {
			return Optional.empty();
		}
		// Before the end of the lease if it was ended early.
		Duration since = this.lease.endsAt().until(this.clock.now());
		return Optional.of(since.isNegative() ? Duration.ZERO : since);
	}

	/** Returns the time until the lease ends unless it is renewed; zero without one. */
	public Duration leaseRemaining() {
		return isConnected() ? this.clock.now().until(this.lease.endsAt()) : Duration.ZERO;
	}

	/**
	 * Returns whether this member has no lease because the store has refused it for some
	 * seconds, or because its settings do not fit the group's: waiting does not help.
	 */
	public boolean isRefusedByStore() {
		return !isConnected() && this.loop.storeProblem().refusesMember(this.clock.now());
	}

	/** Returns the last failure of the store since its last reply. */
	public Optional<String> storeProblem() {
		return Optional.ofNullable(this.loop.storeProblem().text());
	}

	/**
	 * {@return the failure, and how to fix it, of a step that fails for long although
	 * heartbeats are answered}
	 */
	public Optional<String> refusedByStore() {
		return isConnected() ? this.loop.storeProblem().lasting(this.clock.now()) : Optional.empty();
	}

	/** Returns the problem of the subscription; consumption continues. */
	public Optional<String> subscriptionProblem() {
		return isConnected() ? Optional.ofNullable(this.loop.subscriptionProblem()) : Optional.empty();
	}

	/** Returns the reply of {@link CoordinationStore#refusedOperations()}. */
	public Map<String, String> refusedOperations() {
		return this.store.refusedOperations();
	}

	public CoordinationSettings settings() {
		return this.settings;
	}

}
