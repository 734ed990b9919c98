package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.Loops;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.TopicGroups;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.TrimRule;

/**
 * Makes known that the group consumes its topics, again and again, because the store may
 * forget it; and takes from topics what their rules let go: one instance of all at a
 * time, and nothing that a group has not handled yet unless the rule says so. After the
 * store may have forgotten groups, nothing goes until they had the time to make
 * themselves known several times. Thread-safe.
 */
public final class TopicTrimming implements SmartLifecycle {

	/** How often each topic is looked at, by one instance of all. */
	public static final Duration INTERVAL = Duration.ofSeconds(10);

	private static final Logger logger = LoggerFactory.getLogger(TopicTrimming.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	/** How often a group can make itself known before it is believed to be gone. */
	private static final int REGISTRATIONS_TO_SETTLE = 3;

	private final Map<String, TrimRule> rules;

	private final Supplier<Set<String>> consumed;

	private final ShardSource source;

	private final ShardTrimmer trimmer;

	private final TopicGroups groups;

	private final MemberRuntime runtime;

	private final Duration interval;

	/** Shards that could not be trimmed, as was said. */
	private final Set<ShardId> troubled = new HashSet<>();

	/** Why the store was of no use, as was said; confined to the loop. */
	private @Nullable String refused;

	private Loops.@Nullable Loop loop;

	/**
	 * Creates it; not started.
	 * @param rules by topic what may go
	 * @param consumed the topics that this instance shares with its group; broadcast ones
	 * are not among them, because an instance may never come back
	 * @param source knows the topics' shards
	 * @param trimmer takes records
	 * @param groups knows how far all groups are
	 * @param runtime clock and loops
	 * @param interval how often a topic is looked at
	 */
	public TopicTrimming(Map<String, TrimRule> rules, Supplier<Set<String>> consumed, ShardSource source,
			ShardTrimmer trimmer, TopicGroups groups, MemberRuntime runtime, Duration interval) {
		this.rules = Map.copyOf(rules);
		this.consumed = consumed;
		this.source = source;
		this.trimmer = trimmer;
		this.groups = groups;
		this.runtime = runtime;
		this.interval = interval;
	}

	@Override
	public synchronized void start() {
		Set<String> topics = this.consumed.get();
		if (this.loop != null || topics.isEmpty() && this.rules.isEmpty()) {
			return;
		}
		this.loop = this.runtime.loops().start("shardkeeper-trimming", () -> step(topics));
	}

	private MonotonicTime step(Set<String> topics) {
		try {
			if (!topics.isEmpty()) {
				this.groups.register(topics);
			}
			for (Map.Entry<String, TrimRule> rule : this.rules.entrySet()) {
				trim(rule.getKey(), rule.getValue());
			}
			this.refused = null;
		}
		catch (StoreUnavailableException ex) {
			tell(ex);
			return this.runtime.clock().now().plus(PAUSE_AFTER_FAILURE);
		}
		return this.runtime.clock().now().plus(this.interval);
	}

	/**
	 * Of a store that is away the coordinator tells; a refusal may concern this alone.
	 */
	private void tell(StoreUnavailableException failure) {
		if (failure.isRefusal() && !Objects.equals(this.refused, failure.getMessage())) {
			this.refused = failure.getMessage();
			logger.warn("Topics cannot be trimmed, or this group cannot be registered as their consumer; trying "
					+ "again. {}", failure.getMessage());
		}
		else {
			logger.debug("Topics cannot be trimmed now", failure);
		}
	}

	private void trim(String topic, TrimRule rule) {
		List<ShardId> shards = new ArrayList<>();
		this.source.topics().getOrDefault(topic, TopicShards.NONE).forEach(topic, shards::add);
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
		this.trimmer.trim(shard, handled, rule).whenComplete((gone, failure) -> {
			synchronized (this.troubled) {
				if (failure == null) {
					this.troubled.remove(shard);
				}
				else if (this.troubled.add(shard)) {
					logger.warn("{} cannot be trimmed; trying on. {}", shard, failure.getMessage());
				}
			}
		});
	}

	@Override
	public synchronized void stop() {
		if (this.loop != null) {
			this.loop.close();
			this.loop = null;
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.loop != null;
	}

	/** Knows what is consumed once the runner has started. */
	@Override
	public int getPhase() {
		return ShardConsumerRunner.PHASE + 1;
	}

}
