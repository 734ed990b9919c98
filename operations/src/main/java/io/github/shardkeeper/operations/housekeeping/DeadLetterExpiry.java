package io.github.shardkeeper.operations.housekeeping;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.Retention;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.LoopLifecycle;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Removes dead letters that are too old or too many, of topics where that is configured.
 * The leader does so for all shards of the topics that it knows, and each instance for
 * the shards that it owns: it consumes their topics, which a leader need not. Works in
 * small steps; a store that is away delays only its own topics. Thread-safe.
 */
public final class DeadLetterExpiry extends LoopLifecycle {

	/** Interval between two rounds over all shards. */
	public static final Duration INTERVAL = Duration.ofMinutes(1);

	private static final Logger logger = PrintableLogger.of(DeadLetterExpiry.class);

	private static final int SHARDS_PER_STEP = 100;

	/** Calls for a shard in a round; what remains waits for the next one. */
	private static final int CALLS_PER_SHARD = 100;

	private static final Duration PAUSE = Duration.ofMillis(100);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);

	private final Map<String, Retention> retentions;

	private final Predicate<ShardId> responsible;

	private final SourceRegistry sources;

	private final DeadLetterStore letters;

	private final Listener listener;

	private final MemberRuntime runtime;

	/** Shards of this round that are still to be done; confined to the loop. */
	private final Queue<ShardId> pending = new ArrayDeque<>();

	/** Shards of this round whose store did not reply; confined to the loop. */
	private final List<ShardId> unanswered = new ArrayList<>();

	/** Letters removed in this round by topic; confined to the loop. */
	private final Map<String, Long> removed = new TreeMap<>();

	/** Shards whose refusal has been logged; confined to the loop. */
	private final Set<ShardId> refused = new HashSet<>();

	/**
	 * Creates an instance that is not started.
	 * @param retentions the letters to keep, for topics that have a limit
	 * @param responsible returns whether this instance removes the letters of a shard now
	 * @param phase the lifecycle phase, later than the runner's
	 */
	public DeadLetterExpiry(Map<String, Retention> retentions, Predicate<ShardId> responsible, SourceRegistry sources,
			DeadLetterStore letters, Listener listener, MemberRuntime runtime, int phase) {
		super(phase);
		this.retentions = Map.copyOf(retentions);
		this.responsible = responsible;
		this.sources = sources;
		this.letters = letters;
		this.listener = listener;
		this.runtime = runtime;
	}

	@Override
	protected Loops.@Nullable Loop startLoop() {
		return this.retentions.isEmpty() ? null : this.runtime.loops().start("shardkeeper-dead-letters", this::step);
	}

	/** Does a part of a round, and returns when the next one is due. */
	MonotonicTime step() {
		if (this.pending.isEmpty()) {
			begin();
		}
		for (int i = 0; i < SHARDS_PER_STEP && !this.pending.isEmpty(); i++) {
			expireNext();
		}
		if (!this.pending.isEmpty()) {
			return this.runtime.clock().now().plus(PAUSE);
		}
		if (!this.unanswered.isEmpty()) {
			this.pending.addAll(this.unanswered);
			this.unanswered.clear();
			return this.runtime.clock().now().plus(PAUSE_AFTER_FAILURE);
		}
		this.removed.forEach((topic, count) -> logger.info("Removed {} dead letters of topic '{}': {}", count, topic,
				text(this.retentions.get(topic))));
		this.removed.clear();
		return this.runtime.clock().now().plus(INTERVAL);
	}

	private void begin() {
		this.retentions.keySet()
			.forEach((topic) -> this.sources.topics().getOrDefault(topic, TopicShards.NONE).forEach(topic, (shard) -> {
				if (this.responsible.test(shard)) {
					this.pending.add(shard);
				}
			}));
	}

	private void expireNext() {
		ShardId shard = this.pending.remove();
		try {
			expire(shard);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Dead letters of '{}' cannot be removed now", shard.topic(), ex);
			this.unanswered.add(shard);
			this.pending.removeIf((other) -> other.topic().equals(shard.topic()) && this.unanswered.add(other));
		}
	}

	private void expire(ShardId shard) {
		Retention retention = this.retentions.get(shard.topic());
		try {
			for (int i = 0; retention != null && i < CALLS_PER_SHARD; i++) {
				int gone = this.letters.expire(shard, retention);
				if (gone == 0) {
					break;
				}
				this.removed.merge(shard.topic(), (long) gone, Long::sum);
				this.listener.expired(shard.topic(), gone);
			}
			this.refused.remove(shard);
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isRefusal()) {
				throw ex;
			}
			// May concern this shard only.
			if (this.refused.add(shard)) {
				logger.warn("Dead letters of {} cannot be removed; trying again. {}", shard, ex.getMessage());
			}
		}
	}

	private static String text(@Nullable Retention retention) {
		if (retention == null) {
			return "";
		}
		String age = (retention.maxAge() != null) ? "older than " + retention.maxAge() : "";
		String count = (retention.maxCount() != null) ? "more than " + retention.maxCount() + " of a shard" : "";
		return age + (age.isEmpty() || count.isEmpty() ? "" : ", or ") + count;
	}

	/** Counts what is removed. */
	@FunctionalInterface
	public interface Listener {

		/** Called when letters of a topic were removed. */
		void expired(String topic, int letters);

	}

}
