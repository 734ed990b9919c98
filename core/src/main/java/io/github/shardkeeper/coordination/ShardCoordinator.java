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
 * A member of a group: joins, learns from heartbeats which shards it owns, has them
 * consumed, releases them when they move, and leads the group while it is elected.
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
	 * @param settings the settings of the member
	 * @param store the group's control plane
	 * @param heartbeats the heartbeats of the member
	 * @param lease the lease that the heartbeats renew
	 * @param assignment the settings for assigning shards while this member leads
	 * @param runtime clock, loops and random numbers
	 */
	public ShardCoordinator(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats,
			Lease lease, AssignmentSettings assignment, MemberRuntime runtime) {
		this.settings = settings;
		this.clock = runtime.clock();
		this.loop = new CoordinatorLoop(settings, store, heartbeats, lease, assignment, runtime);
	}

	/**
	 * Joins the group. Retries while the store is unavailable.
	 * @param topics the topics that the member consumes, with their shards
	 * @param consumption the consumption of the member's shards
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the store
	 * can never be used with its configuration
	 */
	public void start(Map<String, TopicShards> topics, ShardConsumption consumption) {
		this.consumption = consumption;
		this.loop.start(topics, consumption);
	}

	/**
	 * Updates the shards of the topics. New shards are assigned at once, also if the
	 * leader's own source does not know them yet. Shards are never removed: a shard with
	 * an owner is completed when its reader has reached the end.
	 * @param changed the same topics as at the start, with their current shards
	 */
	public void shardsChanged(Map<String, TopicShards> changed) {
		this.loop.shardsChanged(changed);
	}

	/**
	 * Leaves the group: announces it, continues to consume while the leader moves the
	 * shards away one by one, and ends when the last one is released. After half the
	 * time, or at once if the store is unavailable, the remaining shards are drained
	 * without waiting for the leader. After the whole time heartbeats stop, and the
	 * leader removes the member.
	 * @param timeout maximum duration
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

	/**
	 * Returns the listener for the consumption.
	 * @return the listener to the ends of workers
	 */
	public ShardConsumption.Listener consumptionListener() {
		return this.loop::workerEnded;
	}

	/**
	 * Returns this member's id in the current session.
	 * @return the id, empty outside a session
	 */
	public Optional<MemberId> member() {
		return Optional.ofNullable(this.loop.member());
	}

	/**
	 * Returns whether this member leads the group. Not guaranteed to be true on one
	 * member only, because clocks differ: work that must not be done twice needs a fence.
	 * @return whether it leads and its lease is held
	 */
	public boolean isLeader() {
		return this.loop.isElected() && isConnected();
	}

	/**
	 * Returns whether the member's lease is held: the store answers, and shards are
	 * consumed.
	 * @return whether the lease is held
	 */
	public boolean isConnected() {
		return this.loop.isConnected();
	}

	/**
	 * Returns the problems of the group: those that the leader has published, and those
	 * that this member's own heartbeats show.
	 * @return the problems by the last heartbeat; none while the lease is not held
	 */
	public List<ProblemReport> groupProblems() {
		return isConnected() ? this.loop.groupProblems()
			.stream()
			.map((problem) -> new ProblemReport(problem.serious(), problem.kind(), problem.sentence(),
					problem.concerned()))
			.toList() : List.of();
	}

	/**
	 * Returns the reason for a shard's place in the last plan. Only the leader knows it.
	 * @param shard the shard
	 * @return a sentence; empty if this member does not lead or has not planned yet
	 */
	public Optional<String> why(ShardId shard) {
		return isLeader() ? this.loop.leader().why(shard) : Optional.empty();
	}

	/**
	 * Returns whether the work for each shard is measured, because the assignment
	 * strategy uses loads.
	 * @return whether {@link ShardConsumption#work} will be called
	 */
	public boolean measuresLoads() {
		return this.loop.measuresLoads();
	}

	/**
	 * Returns the last failure of the store since its last answer.
	 * @return the failure; empty if the store works
	 */
	public Optional<String> storeProblem() {
		return Optional.ofNullable(this.loop.storeProblem().text());
	}

	/**
	 * Returns the failure of a step that fails for long although heartbeats are answered,
	 * for example a plan while this member leads.
	 * @return the failure and how to fix it
	 */
	public Optional<String> refusedByStore() {
		return isConnected() ? this.loop.storeProblem().lasting(this.clock.now()) : Optional.empty();
	}

	/**
	 * Returns the problem of the member's subscription while the store answers
	 * heartbeats. Consumption continues.
	 * @return the problem and its consequences
	 */
	public Optional<String> subscriptionProblem() {
		return isConnected() ? Optional.ofNullable(this.loop.subscriptionProblem()) : Optional.empty();
	}

	/**
	 * Returns a problem with the setup of the store because of which it may lose more
	 * writes than necessary. Consumption continues.
	 * @return the problem and how to fix it
	 */
	public Optional<String> durabilityProblem() {
		return this.loop.durabilityProblem();
	}

	/**
	 * Returns the steps that the store refuses for a missing right. Consumption
	 * continues.
	 * @return by step the reason and how to fix it
	 */
	public Map<String, String> refusedOperations() {
		return this.loop.refusedOperations();
	}

	/**
	 * Returns the settings of this member.
	 * @return the settings
	 */
	public CoordinationSettings settings() {
		return this.settings;
	}

}
