package io.github.shardkeeper.actuate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.report.ProblemReport;
import io.github.shardkeeper.shard.ShardId;

/**
 * Up while this instance may consume, nothing holds a shard of it up, and nothing serious
 * is wrong with the group. An instance without handlers is always up. Thread-safe; asks
 * nobody.
 */
public final class ShardkeeperHealthIndicator extends AbstractHealthIndicator {

	private static final int MOST_NAMED = 10;

	private final ShardCoordinator coordinator;

	private final ShardConsumerRunner runner;

	private final LoopThreads loops;

	/**
	 * Creates the indicator.
	 * @param coordinator knows whether the lease is held
	 * @param runner knows what holds shards up
	 * @param loops knows which loops fail or hang
	 */
	public ShardkeeperHealthIndicator(ShardCoordinator coordinator, ShardConsumerRunner runner, LoopThreads loops) {
		super("Shardkeeper's health check failed");
		this.coordinator = coordinator;
		this.runner = runner;
		this.loops = loops;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.up().withDetail("group", this.coordinator.settings().group());
		if (!this.runner.isRunning()) {
			builder.withDetail("member", "none: this instance has no @ShardConsumer method, or is not started");
			return;
		}
		if (this.runner.isCoordinated()) {
			tellMembership(builder);
		}
		else {
			builder.withDetail("member", "none: every topic that this instance consumes is broadcast");
		}
		Map<String, String> loopProblems = this.loops.problems();
		if (!loopProblems.isEmpty()) {
			builder.down().withDetail("loops", loopProblems);
		}
		Map<String, String> topicProblems = this.runner.topicProblems();
		if (!topicProblems.isEmpty()) {
			builder.down().withDetail("topics", topicProblems);
		}
		tellProblems(builder);
		tellGroup(builder);
		Map<String, String> refused = this.coordinator.refusedSteps();
		if (!refused.isEmpty()) {
			// Nothing stands still because of it.
			builder.withDetail("refused", refused);
		}
	}

	/** By kind, and by sentence where something is concerned by it. */
	private void tellGroup(Health.Builder builder) {
		Map<String, Map<String, String>> kinds = new TreeMap<>();
		for (ProblemReport problem : this.coordinator.groupProblems()) {
			if (problem.serious()) {
				builder.down();
			}
			kinds.computeIfAbsent(problem.kind(), (kind) -> new TreeMap<>())
				.merge(problem.problem(), problem.concerned(), (one, other) -> one + "; " + other);
		}
		kinds
			.forEach((kind, sentences) -> builder.withDetail(kind, sentences.values().stream().allMatch(String::isEmpty)
					? String.join(". ", sentences.keySet()) : sentences));
	}

	private void tellMembership(Health.Builder builder) {
		this.coordinator.member().ifPresent((member) -> builder.withDetail("member", member.value()));
		builder.withDetail("leader", this.coordinator.isLeader());
		// Nothing stands still because of it.
		this.coordinator.subscriptionProblem().ifPresent((problem) -> builder.withDetail("subscription", problem));
		this.coordinator.durabilityProblem().ifPresent((problem) -> builder.withDetail("durability", problem));
		if (!this.coordinator.isConnected()) {
			builder.down()
				.withDetail("reason",
						"The lease is not held, so nothing is consumed. It goes on by itself once the store answers: "
								+ this.coordinator.storeProblem()
									.orElse("no heartbeat was answered yet, or not in time"));
		}
		this.coordinator.refusedByStore()
			.ifPresent((refused) -> builder.down()
				.withDetail("reason", "What is held is consumed, but shards cannot change hands: " + refused));
	}

	/** The runner says which of them are alarms. */
	private void tellProblems(Health.Builder builder) {
		Map<ShardId, String> alarms = new TreeMap<>();
		Map<ShardId, String> details = new TreeMap<>();
		this.runner.shardProblems()
			.forEach((shard, problem) -> (problem.alarm() ? alarms : details).put(shard, problem.text()));
		tell(builder, "problems", alarms);
		if (!details.isEmpty()) {
			builder.withDetail("retrying", byText(details));
		}
	}

	private static void tell(Health.Builder builder, String detail, Map<ShardId, String> problems) {
		if (!problems.isEmpty()) {
			builder.down().withDetail(detail, byText(problems));
		}
	}

	private static Map<String, String> byText(Map<ShardId, String> problems) {
		// By problem, because many shards may share one.
		Map<String, List<ShardId>> shards = new TreeMap<>();
		problems.forEach((shard, problem) -> shards.computeIfAbsent(problem, (p) -> new ArrayList<>()).add(shard));
		Map<String, String> texts = new TreeMap<>();
		shards.forEach((problem, affected) -> texts.put(problem, text(affected)));
		return texts;
	}

	private static String text(List<ShardId> shards) {
		String first = shards.stream().limit(MOST_NAMED).map(ShardId::toString).collect(Collectors.joining(", "));
		return (shards.size() > MOST_NAMED) ? first + " and " + (shards.size() - MOST_NAMED) + " more" : first;
	}

}
