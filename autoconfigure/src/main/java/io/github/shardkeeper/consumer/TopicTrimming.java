package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
 * Makes known that the group consumes its topics, and takes from topics what their rules
 * let go: one instance of all at a time, and nothing that a group has not handled yet
 * unless the rule says so. Does nothing more once all is known and there is no rule.
 * Thread-safe.
 */
public final class TopicTrimming implements SmartLifecycle {

	/** How often each topic is looked at, by one instance of all. */
	public static final Duration INTERVAL = Duration.ofSeconds(10);

	private static final Logger logger = LoggerFactory.getLogger(TopicTrimming.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final Map<String, TrimRule> rules;

	private final Supplier<Set<String>> consumed;

	private final ShardSource source;

	private final ShardTrimmer trimmer;

	private final TopicGroups groups;

	private final MemberRuntime runtime;

	private final Duration interval;

	/** Shards that could not be trimmed, as was said. */
	private final Set<ShardId> troubled = new HashSet<>();

	/** Confined to the loop. */
	private boolean registered;

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
		this.registered = topics.isEmpty();
		this.loop = this.runtime.loops().start("shardkeeper-trimming", () -> step(topics));
	}

	private @Nullable MonotonicTime step(Set<String> topics) {
		try {
			if (!this.registered) {
				this.groups.register(topics);
				this.registered = true;
			}
			for (Map.Entry<String, TrimRule> rule : this.rules.entrySet()) {
				trim(rule.getKey(), rule.getValue());
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Topics cannot be trimmed now", ex);
			return this.runtime.clock().now().plus(PAUSE_AFTER_FAILURE);
		}
		return this.rules.isEmpty() ? null : this.runtime.clock().now().plus(this.interval);
	}

	private void trim(String topic, TrimRule rule) {
		List<ShardId> shards = new ArrayList<>();
		this.source.topics().getOrDefault(topic, TopicShards.NONE).forEach(topic, shards::add);
		if (shards.isEmpty() || !this.groups.claimTrimming(topic, this.interval)) {
			return;
		}
		if (rule.beyondCheckpoints()) {
			shards.forEach((shard) -> trim(shard, null, rule));
			return;
		}
		this.groups.offsets(topic, shards).forEach((shard, handled) -> trim(shard, handled, rule));
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
