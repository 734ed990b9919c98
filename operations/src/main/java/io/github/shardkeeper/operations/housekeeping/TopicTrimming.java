package io.github.shardkeeper.operations.housekeeping;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.LoopLifecycle;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.TrimRule;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Registers the group as a consumer of its topics, repeatedly, because the store may lose
 * the registration; and trims topics by their rules. One instance of all groups trims a
 * topic at a time. A record that a group has not handled stays, unless the rule says
 * otherwise. If the store may have lost registrations, nothing is trimmed until every
 * group had the time to register several times. Thread-safe.
 */
public final class TopicTrimming extends LoopLifecycle {

	/** Interval between two runs for a topic. */
	public static final Duration INTERVAL = Duration.ofSeconds(10);

	private static final Logger logger = PrintableLogger.of(TopicTrimming.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	/** Intervals in which each group that still exists has registered. */
	private static final int REGISTRATIONS_TO_SETTLE = 3;

	private final Map<String, TrimRule> rules;

	private final Set<String> configured;

	private final Supplier<Set<String>> consumed;

	private final SourceRegistry sources;

	private final Function<String, @Nullable ShardTrimmer> trimmers;

	private final TopicGroups groups;

	private final MemberRuntime runtime;

	private final Duration interval;

	/** Shards whose failure has been logged. */
	private final Set<ShardId> failing = new HashSet<>();

	/** Refusals of the store in the last turn; confined to the loop. */
	private Set<String> refusals = Set.of();

	/**
	 * Creates an instance that is not started.
	 * @param configured the topics in the settings of this instance
	 * @param trimmers the trimmer of a topic, {@code null} if its source trims itself
	 * @param consumed the topics that this instance shares with its group, without
	 * broadcast topics: their instances may never come back
	 * @param phase the lifecycle phase; has to be later than the runner's, which
	 * determines what is consumed
	 */
	public TopicTrimming(Map<String, TrimRule> rules, Set<String> configured, Supplier<Set<String>> consumed,
			SourceRegistry sources, Function<String, @Nullable ShardTrimmer> trimmers, TopicGroups groups,
			MemberRuntime runtime, Duration interval, int phase) {
		super(phase);
		this.rules = Map.copyOf(rules);
		this.configured = Set.copyOf(configured);
		this.consumed = consumed;
		this.sources = sources;
		this.trimmers = trimmers;
		this.groups = groups;
		this.runtime = runtime;
		this.interval = interval;
	}

	@Override
	protected Loops.@Nullable Loop startLoop() {
		Set<String> topics = this.consumed.get();
		reportUntrimmed(topics);
		return (topics.isEmpty() && this.rules.isEmpty()) ? null
				: this.runtime.loops().start("shardkeeper-trimming", () -> step(topics));
	}

	/** Reports each topic whose records nobody removes, as far as is known here. */
	private void reportUntrimmed(Set<String> consumed) {
		Set<String> topics = new TreeSet<>(this.configured);
		topics.addAll(consumed);
		topics.stream()
			.filter((topic) -> !this.rules.containsKey(topic) && this.trimmers.apply(topic) != null)
			.forEach((topic) -> logger.info(
					"Topic '{}' keeps every record: set 'shardkeeper.topics.{}.trim.max-age' or 'max-length', and records "
							+ "that all groups have handled are removed beyond it",
					topic, topic));
	}

	private MonotonicTime step(Set<String> topics) {
		Set<String> refused = new LinkedHashSet<>();
		try {
			Set<String> unregistered = register(topics, refused);
			for (Map.Entry<String, TrimRule> rule : this.rules.entrySet()) {
				// Its records might be removed before this group has handled them.
				if (!unregistered.contains(rule.getKey())) {
					attempt(() -> trim(rule.getKey(), rule.getValue()), refused);
				}
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Topics cannot be trimmed now", ex);
			return this.runtime.clock().now().plus(PAUSE_AFTER_FAILURE);
		}
		log(refused);
		return this.runtime.clock().now().plus(refused.isEmpty() ? this.interval : PAUSE_AFTER_FAILURE);
	}

	/** Registers the group; returns the topics for which the store refuses that. */
	private Set<String> register(Set<String> topics, Set<String> refused) {
		if (topics.isEmpty() || attempt(() -> this.groups.register(topics), new HashSet<>())) {
			return Set.of();
		}
		Set<String> unregistered = new HashSet<>();
		for (String topic : topics) {
			if (!attempt(() -> this.groups.register(Set.of(topic)), refused)) {
				unregistered.add(topic);
			}
		}
		return unregistered;
	}

	/**
	 * Does something with one topic. If the store refuses it, that may concern only this
	 * topic, and the others continue.
	 * @throws StoreUnavailableException if the store does not reply
	 */
	private static boolean attempt(Runnable step, Set<String> refused) {
		try {
			step.run();
			return true;
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isRefusal()) {
				throw ex;
			}
			refused.add(String.valueOf(ex.getMessage()));
			return false;
		}
	}

	/** Logs what is refused for the first time; the coordinator logs an outage. */
	private void log(Set<String> refused) {
		for (String reason : refused) {
			if (!this.refusals.contains(reason)) {
				logger.warn("Topics cannot be trimmed, or this group cannot be registered as their consumer; trying "
						+ "again. {}", reason);
			}
		}
		this.refusals = Set.copyOf(refused);
	}

	private void trim(String topic, TrimRule rule) {
		List<ShardId> shards = new ArrayList<>();
		this.sources.topics().getOrDefault(topic, TopicShards.NONE).forEach(topic, shards::add);
		if (shards.isEmpty()) {
			return;
		}
		TopicGroups.Claim claim = this.groups.claimTrimming(topic, this.interval,
				this.interval.multipliedBy(REGISTRATIONS_TO_SETTLE));
		if (claim == null) {
			return;
		}
		if (rule.beyondCheckpoints()) {
			shards.forEach((shard) -> trim(shard, null, rule));
		}
		else if (claim.settled()) {
			this.groups.offsets(claim.groups(), shards).forEach((shard, handled) -> trim(shard, handled, rule));
		}
	}

	private void trim(ShardId shard, @Nullable Collection<Offset> handled, TrimRule rule) {
		ShardTrimmer trimmer = this.trimmers.apply(shard.topic());
		if (trimmer == null) {
			return;
		}
		trimmer.trim(shard, handled, rule).whenComplete((gone, failure) -> {
			synchronized (this.failing) {
				if (failure == null) {
					this.failing.remove(shard);
				}
				else if (this.failing.add(shard)) {
					logger.warn("{} cannot be trimmed; trying again. {}", shard, failure.getMessage());
				}
			}
		});
	}

}
