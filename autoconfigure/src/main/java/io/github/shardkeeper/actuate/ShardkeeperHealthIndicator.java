package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ProblemReport;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.worker.failure.ShardProblem;

/**
 * Health of this instance and its group: {@code UP} while the instance may consume, no
 * shard of it is held up, and the group has no serious problem; always {@code UP} without
 * handlers. {@code UNKNOWN} while the instance has no lease, which mostly ends
 * automatically, as does a connection that fails; if either takes too long, if the store
 * refuses this instance, or if a person has to act for another reason, it has the status
 * of problems. Makes no call to the store. Thread-safe.
 */
public final class ShardkeeperHealthIndicator extends AbstractHealthIndicator {

	private static final int MAX_NAMED_SHARDS = 10;

	private final ShardCoordinator coordinator;

	private final SettingsAgreement agreement;

	private final ShardConsumerRunner runner;

	private final LoopThreads loops;

	private final Supplier<Optional<String>> clusterToolsProblem;

	private final Status problemStatus;

	private final Duration outageTolerance;

	/**
	 * Creates the indicator.
	 * @param clusterToolsProblem returns what keeps the cluster tools from working
	 * @param problemStatus the status if a person has to act
	 * @param outageTolerance the time without a lease after which a person has to act
	 */
	public ShardkeeperHealthIndicator(ShardCoordinator coordinator, SettingsAgreement agreement,
			ShardConsumerRunner runner, LoopThreads loops, Supplier<Optional<String>> clusterToolsProblem,
			Status problemStatus, Duration outageTolerance) {
		super("Shardkeeper's health check failed");
		this.problemStatus = problemStatus;
		this.outageTolerance = outageTolerance;
		this.clusterToolsProblem = clusterToolsProblem;
		this.coordinator = coordinator;
		this.agreement = agreement;
		this.runner = runner;
		this.loops = loops;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.up().withDetail("group", this.coordinator.settings().group());
		// A detail only: all shards are consumed nevertheless.
		this.clusterToolsProblem.get().ifPresent((problem) -> builder.withDetail("clusterTools", problem));
		if (!this.runner.isConsuming()) {
			builder.withDetail("member", "none: this instance has no @ShardConsumer method, or is not started");
			return;
		}
		if (this.runner.isCoordinated()) {
			addMembership(builder);
		}
		else {
			builder.withDetail("member", "none: every topic that this instance consumes is broadcast");
		}
		Map<String, ShardConsumers.State> resting = this.runner.restingTopics();
		if (!resting.isEmpty()) {
			// A detail only: the application wants it.
			builder.withDetail("consumers", resting);
		}
		addAgreement(builder);
		Map<String, String> loopProblems = this.loops.problems();
		if (!loopProblems.isEmpty()) {
			builder.status(this.problemStatus).withDetail("loops", loopProblems);
		}
		Map<String, String> topicProblems = this.runner.topicProblems();
		if (!topicProblems.isEmpty()) {
			builder.status(this.problemStatus).withDetail("topics", topicProblems);
		}
		Map<String, String> throttled = this.runner.throttled();
		if (!throttled.isEmpty()) {
			// A detail only: a quota is somebody's will, and records arrive.
			builder.withDetail("throttled", throttled);
		}
		addShardProblems(builder);
		addGroupProblems(builder);
		addDirectives(builder);
		Map<String, String> refused = this.coordinator.refusedOperations();
		if (!refused.isEmpty()) {
			// A detail only: all shards are consumed nevertheless.
			builder.withDetail("refused", refused);
		}
	}

	/** A member that waits for the store has the status of its lease. */
	private void addAgreement(Health.Builder builder) {
		this.agreement.problem().ifPresent((problem) -> {
			Duration waiting = problem.waiting();
			boolean tolerated = waiting != null && waiting.compareTo(this.outageTolerance) < 0;
			builder.status(tolerated ? Status.UNKNOWN : this.problemStatus).withDetail("settings", problem.text());
		});
	}

	/** Adds a detail for each kind of problem, with what each problem concerns. */
	private void addGroupProblems(Health.Builder builder) {
		Map<String, Map<String, String>> kinds = new TreeMap<>();
		for (ProblemReport problem : this.coordinator.groupProblems()) {
			if (problem.serious()) {
				builder.status(this.problemStatus);
			}
			kinds.computeIfAbsent(problem.kind(), (kind) -> new TreeMap<>())
				.merge(problem.problem(), problem.concerned(), (one, other) -> one + "; " + other);
		}
		kinds.forEach((kind, texts) -> builder.withDetail(kind,
				texts.values().stream().allMatch(String::isEmpty) ? String.join(". ", texts.keySet()) : texts));
	}

	private void addMembership(Health.Builder builder) {
		this.coordinator.member().ifPresent((member) -> builder.withDetail("member", member.value()));
		builder.withDetail("leader", this.coordinator.isLeader());
		// Details only: all shards are consumed nevertheless.
		this.coordinator.subscriptionProblem().ifPresent((problem) -> builder.withDetail("subscription", problem));
		this.coordinator.withoutLeaseFor().ifPresent((duration) -> {
			boolean tolerated = duration.compareTo(this.outageTolerance) < 0 && !this.coordinator.isRefusedByStore();
			builder.status(tolerated ? Status.UNKNOWN : this.problemStatus)
				.withDetail("reason",
						"The lease is not held, so nothing is consumed. Consumption resumes once the store replies: "
								+ this.coordinator.storeProblem()
									.orElse("no heartbeat was answered yet, or not in time"));
		});
		this.coordinator.refusedByStore()
			.ifPresent((refused) -> builder.status(this.problemStatus)
				.withDetail("reason", "Owned shards are consumed, but ownership cannot change: " + refused));
	}

	private void addShardProblems(Health.Builder builder) {
		Map<ShardId, String> alarms = new TreeMap<>();
		Map<ShardId, String> details = new TreeMap<>();
		this.runner.shardProblems()
			.forEach((shard, problem) -> (isAlarm(problem) ? alarms : details).put(shard, problem.text()));
		if (!alarms.isEmpty()) {
			builder.status(this.problemStatus).withDetail("problems", shardsByProblem(alarms));
		}
		if (!details.isEmpty()) {
			builder.withDetail("retrying", shardsByProblem(details));
		}
	}

	private boolean isAlarm(ShardProblem problem) {
		Duration outage = problem.outage();
		return (outage != null) ? outage.compareTo(this.outageTolerance) >= 0 : problem.alarm();
	}

	/**
	 * Adds what operators have paused and drained: details only, because they want it.
	 */
	private void addDirectives(Health.Builder builder) {
		Directives directives = this.coordinator.directives();
		for (Directive.Kind kind : List.of(Directive.Kind.PAUSE, Directive.Kind.DRAIN)) {
			Map<String, List<String>> subjects = new TreeMap<>();
			directives.of(kind)
				.forEach((directive) -> subjects.computeIfAbsent(directive.byWhom(), (by) -> new ArrayList<>())
					.add(directive.subject()));
			if (!subjects.isEmpty()) {
				Map<String, String> texts = new TreeMap<>();
				subjects.forEach((by, affected) -> texts.put(by, text(affected)));
				builder.withDetail((kind == Directive.Kind.PAUSE) ? "paused" : "drained", texts);
			}
		}
	}

	/** Groups by problem, because many shards may have the same. */
	private static Map<String, String> shardsByProblem(Map<ShardId, String> problems) {
		Map<String, List<ShardId>> shards = new TreeMap<>();
		problems.forEach((shard, problem) -> shards.computeIfAbsent(problem, (p) -> new ArrayList<>()).add(shard));
		Map<String, String> texts = new TreeMap<>();
		shards.forEach((problem, affected) -> texts.put(problem, text(affected)));
		return texts;
	}

	private static String text(List<?> shards) {
		String first = shards.stream().limit(MAX_NAMED_SHARDS).map(Object::toString).collect(Collectors.joining(", "));
		return (shards.size() > MAX_NAMED_SHARDS) ? first + " and " + (shards.size() - MAX_NAMED_SHARDS) + " more"
				: first;
	}

}
