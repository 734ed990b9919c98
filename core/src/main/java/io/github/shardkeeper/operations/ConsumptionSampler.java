package io.github.shardkeeper.operations;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.operations.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.operations.ConsumptionSample.TopicFigures;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.TopicSources;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reads figures for meters at an interval, on a loop of its own: each instance those of
 * its own shards, and the leader the states of all. A sample costs four small commands
 * per shard. Thread-safe.
 */
public final class ConsumptionSampler implements SmartLifecycle {

	private static final Logger logger = PrintableLogger.of(ConsumptionSampler.class);

	/** One step stays short. */
	private static final int SHARDS_PER_STEP = 100;

	private final ShardCoordinator coordinator;

	private final CoordinationStore coordinationStore;

	private final CheckpointStore checkpoints;

	private final @Nullable DeadLetterStore deadLetters;

	private final TopicSources sources;

	private final Supplier<Set<ShardId>> owned;

	private final Supplier<Map<ShardId, String>> problems;

	private final MemberRuntime runtime;

	private final InstantSource wallClock;

	private final Duration interval;

	private final int phase;

	private final Consumer<ConsumptionSample> listener;

	private Loops.@Nullable Loop loop;

	/** Confined to the loop, as are the fields below. */
	private final Deque<ShardId> pending = new ArrayDeque<>();

	private final Map<ShardId, ShardFigures> sampled = new HashMap<>();

	private Map<ShardId, String> known = Map.of();

	private MonotonicTime nextRound;

	private @Nullable GroupPicture picture;

	/**
	 * Creates a sampler that is not started.
	 * @param deadLetters the dead letters; {@code null} if the store has none
	 * @param owned the shards of this instance
	 * @param problems the problems of this instance's shards
	 * @param interval the time between two samples; zero for none
	 * @param listener receives each sample, on the sampler's loop; must not throw
	 */
	public ConsumptionSampler(ShardCoordinator coordinator, CoordinationStore coordinationStore,
			CheckpointStore checkpoints, @Nullable DeadLetterStore deadLetters, TopicSources sources,
			Supplier<Set<ShardId>> owned, Supplier<Map<ShardId, String>> problems, MemberRuntime runtime,
			InstantSource wallClock, Duration interval, int phase, Consumer<ConsumptionSample> listener) {
		this.coordinator = coordinator;
		this.coordinationStore = coordinationStore;
		this.checkpoints = checkpoints;
		this.deadLetters = deadLetters;
		this.sources = sources;
		this.owned = owned;
		this.problems = problems;
		this.runtime = runtime;
		this.wallClock = wallClock;
		this.interval = interval;
		this.phase = phase;
		this.listener = listener;
		this.nextRound = runtime.clock().now();
	}

	/**
	 * Reads the lag of a shard; meters and endpoint show the same.
	 * @return the lag; {@code null} if the source cannot tell
	 */
	static @Nullable LagReport lag(TopicSources sources, ShardId shard, Offset committed) {
		if (!sources.names().contains(shard.topic())) {
			return null;
		}
		ShardSource.Lag lag = sources.of(shard.topic()).lag(shard, committed);
		if (lag == null) {
			return null;
		}
		Duration age = lag.age();
		return new LagReport(lag.records(), (age != null) ? age.toMillis() : null);
	}

	@Override
	public synchronized void start() {
		if (this.loop == null && !this.interval.isZero()) {
			this.loop = this.runtime.loops().start("shardkeeper-samples", this::step);
		}
	}

	private MonotonicTime step() {
		try {
			if (this.pending.isEmpty()) {
				begin();
			}
			List<ShardId> some = new ArrayList<>();
			while (!this.pending.isEmpty() && some.size() < SHARDS_PER_STEP) {
				some.add(this.pending.remove());
			}
			if (!some.isEmpty()) {
				sample(some);
			}
			if (!this.pending.isEmpty()) {
				return this.runtime.clock().now();
			}
			this.listener.accept(new ConsumptionSample(this.sampled, group()));
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Figures for meters cannot be read now", ex);
			this.pending.clear();
		}
		return this.nextRound;
	}

	private void begin() {
		this.nextRound = this.runtime.clock().now().plus(this.interval);
		this.sampled.clear();
		this.known = this.problems.get();
		this.pending.addAll(this.owned.get());
	}

	private void sample(List<ShardId> shards) {
		Map<ShardId, Offset> offsets = this.checkpoints.offsets(shards,
				(shard, failure) -> logger.debug("The offset of {} cannot be read", shard, failure));
		DeadLetterStore letters = this.deadLetters;
		Map<ShardId, Long> stored = (letters != null) ? counted(() -> letters.countDeadLetters(shards)) : Map.of();
		Map<ShardId, Long> retries = (letters != null) ? counted(() -> letters.countRetries(shards)) : Map.of();
		for (ShardId shard : shards) {
			this.sampled.put(shard, new ShardFigures(lag(shard, offsets.get(shard)), stored.get(shard),
					retries.get(shard), this.known.containsKey(shard)));
		}
	}

	/** Returns nothing if Redis refuses: other figures are still read. */
	private static Map<ShardId, Long> counted(Supplier<Map<ShardId, Long>> count) {
		try {
			return count.get();
		}
		catch (StoreUnavailableException ex) {
			requireRefusal(ex);
			return Map.of();
		}
	}

	private @Nullable LagReport lag(ShardId shard, @Nullable Offset committed) {
		if (committed == null || RunPosition.of(committed) != null) {
			return null;
		}
		try {
			return lag(this.sources, shard, committed);
		}
		catch (StoreUnavailableException ex) {
			requireRefusal(ex);
		}
		catch (RuntimeException ex) {
			// From an own source, or the offset is of another one.
			logger.debug("The lag of {} cannot be read", shard, ex);
		}
		return null;
	}

	private static void requireRefusal(StoreUnavailableException failure) {
		if (!failure.isRefusal()) {
			throw failure;
		}
		logger.debug("A figure for meters cannot be read", failure);
	}

	private Map<String, TopicFigures> group() {
		if (!this.coordinator.isLeader()) {
			this.picture = null;
			return Map.of();
		}
		GroupPicture current = GroupPicture.read(this.coordinationStore, this.picture, this.runtime.clock().now());
		this.picture = current;
		long now = this.wallClock.millis();
		Map<String, Map<String, Integer>> states = new TreeMap<>();
		Map<String, Integer> unowned = new HashMap<>();
		Map<String, Long> longest = new HashMap<>();
		for (Ownership ownership : current.shards().values()) {
			String topic = ownership.shard().topic();
			states.computeIfAbsent(topic, (name) -> new TreeMap<>()).merge(ownership.phase().name(), 1, Integer::sum);
			if (ownership.owner() == null && ownership.phase() != Ownership.Phase.COMPLETED) {
				unowned.merge(topic, 1, Integer::sum);
				longest.merge(topic, Math.max(0, now - ownership.sinceMillis()), Math::max);
			}
		}
		Map<String, TopicFigures> figures = new HashMap<>();
		states.forEach((topic, counts) -> figures.put(topic,
				new TopicFigures(counts, unowned.getOrDefault(topic, 0), longest.getOrDefault(topic, 0L))));
		return figures;
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

	@Override
	public int getPhase() {
		return this.phase;
	}

}
