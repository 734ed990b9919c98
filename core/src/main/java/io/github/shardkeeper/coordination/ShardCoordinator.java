package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.report.ProblemReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * One member of one group: joins, learns from its heartbeats which shards it owns, has
 * them consumed, releases them when they move, and leads the group while it is elected.
 * <p>
 * All decisions are made on one loop, on which user code never runs. Thread-safe.
 */
public final class ShardCoordinator implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ShardCoordinator.class);

	/** Maximum number of shards in one log line. */
	private static final int MOST_NAMED = 10;

	private final CoordinationSettings settings;

	private final MonotonicClock clock;

	private final CoordinatorLoop loop;

	private @Nullable ShardConsumption consumption;

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
		this.clock = runtime.clock();
		this.loop = new CoordinatorLoop(settings, store, heartbeats, lease, assignment, runtime);
	}

	/**
	 * Joins the group. If the store is unavailable, it keeps trying.
	 * @param topics the topics that the member consumes, with their shards
	 * @param consumption consumes the shards that the member gets
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * store can never be used as it is configured
	 */
	public void start(Map<String, TopicShards> topics, ShardConsumption consumption) {
		this.consumption = consumption;
		this.loop.start(topics, consumption);
	}

	/**
	 * Reports that the topics have other shards than before. New ones are assigned at
	 * once, and the leader learns of them even if its own source is behind. Shards are
	 * never removed: one that has an owner completes when its reader says so.
	 * @param changed all topics that the member consumes, the same as at the start, with
	 * their shards as they are now
	 */
	public void shardsChanged(Map<String, TopicShards> changed) {
		this.loop.shardsChanged(changed);
	}

	/**
	 * Leaves the group: announces it, keeps consuming while the leader moves the shards
	 * away one by one, and ends when the last one is released. After half the time, or at
	 * once if the store is unavailable, the rest is released without waiting for the
	 * leader. At the end heartbeats stop, and the others reap what is still held.
	 * @param timeout how long this may take
	 */
	public void stop(Duration timeout) {
		if (!this.loop.isRunning()) {
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
	 * @param patience how long to wait for the leader to move the shards away
	 * @return completes when the member is gone
	 */
	public CompletableFuture<Void> leave(Duration patience) {
		return this.loop.leave(patience);
	}

	/**
	 * Ends the loop and the heartbeats without telling anybody.
	 */
	@Override
	public void close() {
		this.loop.close();
	}

	/**
	 * Tells that a worker has ended; see {@link ShardConsumption.Listener}.
	 * @return the listener to give to the consumption
	 */
	public ShardConsumption.Listener consumptionListener() {
		return this.loop::workerEnded;
	}

	/**
	 * Returns this member's id in the current session.
	 * @return the id, empty while it is not in the group
	 */
	public Optional<MemberId> member() {
		return Optional.ofNullable(this.loop.member());
	}

	/**
	 * Returns whether this member leads the group. At most one member of a group does, as
	 * far as clocks go: what must not be done twice needs a fence of its own.
	 * @return whether it leads and its lease is held
	 */
	public boolean isLeader() {
		return this.loop.isElected() && isConnected();
	}

	/**
	 * Returns whether the member's lease is held: the store answers, shards are consumed.
	 * @return whether it is
	 */
	public boolean isConnected() {
		return this.loop.isConnected();
	}

	/**
	 * Returns what is wrong with the group: what the leader has found, which every member
	 * is told, and what this member's own heartbeats show.
	 * @return the problems as they were told last; none while the lease is not held
	 */
	public List<ProblemReport> groupProblems() {
		return isConnected() ? this.loop.groupProblems()
			.stream()
			.map((problem) -> new ProblemReport(problem.serious(), problem.kind(), problem.sentence(),
					problem.concerned()))
			.toList() : List.of();
	}

	/**
	 * Returns why the last plan has a shard where it is, or moves it. Only the leader
	 * knows.
	 * @param shard the shard
	 * @return a sentence; empty if this member does not lead, or has not planned yet
	 */
	public Optional<String> why(ShardId shard) {
		return isLeader() ? this.loop.leader().why(shard) : Optional.empty();
	}

	/**
	 * Returns whether what is done for each shard is to be measured, because the
	 * assignment strategy looks at loads.
	 * @return whether {@link ShardConsumption#work} will be asked
	 */
	public boolean measuresLoads() {
		return this.loop.measuresLoads();
	}

	/**
	 * Returns why the member is not connected, as far as it knows.
	 * @return the last failure since the store answered last
	 */
	public Optional<String> storeProblem() {
		return Optional.ofNullable(this.loop.storeProblem().text());
	}

	/**
	 * Returns what the store has refused for long, although it answers heartbeats: a
	 * plan, for example, while this member leads.
	 * @return what is wrong and what to do
	 */
	public Optional<String> refusedByStore() {
		return isConnected() ? this.loop.storeProblem().lasting(this.clock.now()) : Optional.empty();
	}

	/**
	 * Returns what is wrong with the member's subscription while the store answers
	 * heartbeats. Shards are consumed all the same.
	 * @return what is wrong, and what follows from it
	 */
	public Optional<String> subscriptionProblem() {
		return isConnected() ? Optional.ofNullable(this.loop.subscriptionProblem()) : Optional.empty();
	}

	/**
	 * Returns what is wrong with how the store is set up, so that it may lose more than
	 * necessary. Shards are consumed all the same.
	 * @return what is wrong and what to do
	 */
	public Optional<String> durabilityProblem() {
		return this.loop.durabilityProblem();
	}

	/**
	 * Returns what the store refuses for a missing right although nothing stands still
	 * without it.
	 * @return by step why it is refused and what to do
	 */
	public Map<String, String> refusedOperations() {
		return this.loop.refusedOperations();
	}

	/**
	 * Returns what this member is configured with.
	 * @return the settings
	 */
	public CoordinationSettings settings() {
		return this.settings;
	}

}
