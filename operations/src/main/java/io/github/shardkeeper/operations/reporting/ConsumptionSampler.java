package io.github.shardkeeper.operations.reporting;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.LoopLifecycle;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.TopicFigures;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.MovePhaseReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.FailureText;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reads figures for meters at an interval, on a loop of its own: each instance those of
 * its own shards, and the leader the states of all. It costs nothing of a shard whose
 * owner rests and that has neither lag nor retries nor dead letters, two small commands
 * of a busy shard, four of others. What cannot be read is missing in the sample, and
 * nothing else. Thread-safe.
 */
public final class ConsumptionSampler extends LoopLifecycle {

	private static final Logger logger = PrintableLogger.of(ConsumptionSampler.class);

	private final Stores stores;

	private final Consumption consumption;

	private final BooleanSupplier leads;

	private final PhaseSource phases;

	private final MemberRuntime runtime;

	private final InstantSource wallClock;

	private final Duration interval;

	private final Consumer<ConsumptionSample> listener;

	/** Confined to the loop, as are the fields below. */
	private final Queue<SamplingPass.Part> pending = new ArrayDeque<>();

	private final ProblemLog log = new ProblemLog();

	/** Topics that were not answered when they were asked for last. */
	private Set<String> unanswered = Set.of();

	private @Nullable Round round;

	/** Number of rounds that have begun. */
	private int rounds;

	private KnownFigures known = KnownFigures.NONE;

	private @Nullable GroupSnapshot picture;

	/**
	 * Creates a sampler that is not started.
	 * @param leads returns whether this instance leads the group
	 * @param phases finds phases of moves
	 * @param interval the time between two samples; zero for none
	 * @param listener receives each sample, on the sampler's loop; must not throw
	 */
	public ConsumptionSampler(Stores stores, Consumption consumption, BooleanSupplier leads, PhaseSource phases,
			MemberRuntime runtime, InstantSource wallClock, Duration interval, int phase,
			Consumer<ConsumptionSample> listener) {
		super(phase);
		this.stores = stores;
		this.consumption = consumption;
		this.leads = leads;
		this.phases = phases;
		this.runtime = runtime;
		this.wallClock = wallClock;
		this.interval = interval;
		this.listener = listener;
	}

	/**
	 * Reads the lag of a shard; meters and endpoint show the same.
	 * @return the lag; {@code null} if the source cannot tell
	 */
	static @Nullable LagReport lag(SourceRegistry sources, ShardId shard, Offset committed) {
		if (!sources.names().contains(shard.topic())) {
			return null;
		}
		ShardSource.Lag lag = sources.of(shard.topic()).lag(shard, committed);
		if (lag == null) {
			return null;
		}
		Duration age = lag.age();
		return new LagReport(lag.records(), (age != null) ? age.toMillis() : null, lag.stable());
	}

	@Override
	protected Loops.@Nullable Loop startLoop() {
		return this.interval.isZero() ? null : this.runtime.loops().start("shardkeeper-samples", this::step);
	}

	/** Reads a part of a sample, and returns when the next part or sample is due. */
	MonotonicTime step() {
		Round current = this.round;
		if (current == null) {
			current = new Round();
			this.round = current;
		}
		SamplingPass.Part next = this.pending.poll();
		if (next != null) {
			current.figures.read(next, current.mayWait());
			return this.runtime.clock().now();
		}
		this.pending.addAll(current.figures.partsLeft());
		if (!this.pending.isEmpty()) {
			return this.runtime.clock().now();
		}
		this.round = null;
		this.unanswered = current.figures.unanswered(this.unanswered);
		Map<String, TopicFigures> group = current.attempt("The states of the group's shards", this::group);
		List<MovePhaseReport> found = current.attempt("The phases of moves",
				() -> this.phases.next(this.leads.getAsBoolean()));
		this.listener.accept(current.sample(group, (found != null) ? found : List.of()));
		if (!current.failed && this.log.resolved()) {
			logger.info("All figures for meters can be read again");
		}
		return current.begunAt.plus(this.interval);
	}

	private @Nullable Map<String, TopicFigures> group() {
		if (!this.leads.getAsBoolean()) {
			this.picture = null;
			return null;
		}
		GroupSnapshot current = GroupSnapshot.read(this.stores.coordination(), this.picture,
				this.runtime.clock().now());
		this.picture = current;
		long now = this.wallClock.millis();
		Map<String, Map<String, Integer>> states = new TreeMap<>();
		Map<String, Integer> unowned = new HashMap<>();
		Map<String, Long> longest = new HashMap<>();
		for (Ownership ownership : current.shards().values()) {
			String topic = ownership.shard().topic();
			states.computeIfAbsent(topic, (name) -> noShards()).merge(ownership.phase().name(), 1, Integer::sum);
			if (ownership.owner() == null && ownership.phase() != Ownership.Phase.COMPLETED) {
				unowned.merge(topic, 1, Integer::sum);
				longest.merge(topic, Math.max(0, now - ownership.sinceMillis()), Math::max);
			}
		}
		this.consumption.topics().get().forEach((topic) -> states.putIfAbsent(topic, noShards()));
		Map<String, TopicFigures> figures = new HashMap<>();
		states.forEach((topic, counts) -> figures.put(topic,
				new TopicFigures(counts, unowned.getOrDefault(topic, 0), longest.getOrDefault(topic, 0L))));
		return figures;
	}

	private static Map<String, Integer> noShards() {
		Map<String, Integer> none = new TreeMap<>();
		ConsumptionSample.STATES.forEach((state) -> none.put(state, 0));
		return none;
	}

	/** One sample while it is read. */
	private final class Round {

		private final MonotonicTime begunAt = ConsumptionSampler.this.runtime.clock().now();

		private final Map<ShardId, String> problems = ConsumptionSampler.this.consumption.problems().get();

		private final Set<ShardId> shards = ConsumptionSampler.this.consumption.shards().get();

		/** Before the figures are read, so that nothing is overlooked. */
		private final Map<ShardId, ShardActivity> activities = new HashMap<>();

		private final SamplingPass figures;

		private boolean failed;

		Round() {
			ConsumptionSampler sampler = ConsumptionSampler.this;
			this.shards.forEach((shard) -> {
				ShardActivity activity = sampler.consumption.activity().apply(shard);
				if (activity != null && !this.problems.containsKey(shard)) {
					this.activities.put(shard, activity);
				}
			});
			this.figures = new SamplingPass(sampler.stores.checkpoints(), sampler.stores.deadLetters(),
					sampler.stores.sources(), sampler.known, this.activities, this::failed);
			sampler.pending.addAll(this.figures.parts(this.shards, sampler.unanswered, sampler.rounds++));
		}

		/** Several stores that do not reply must not delay what others have told. */
		boolean mayWait() {
			ConsumptionSampler sampler = ConsumptionSampler.this;
			return !this.figures.hasUnanswered()
					|| this.begunAt.until(sampler.runtime.clock().now()).compareTo(sampler.interval) < 0;
		}

		<T> @Nullable T attempt(String what, Supplier<? extends @Nullable T> read) {
			try {
				return read.get();
			}
			catch (RuntimeException ex) {
				failed(what, ex);
				return null;
			}
		}

		/** Logs each cause of an outage once. */
		private void failed(String what, RuntimeException failure) {
			this.failed = true;
			boolean expected = failure instanceof StoreUnavailableException;
			String cause = expected ? String.valueOf(failure.getMessage()) : FailureText.withoutMessage(failure);
			// A stop interrupts calls, which fail then.
			if (!isRunning() || !ConsumptionSampler.this.log.isNew(cause)) {
				logger.debug("{} still cannot be read", what, failure);
			}
			else if (expected) {
				logger.warn("{} cannot be read; its meters have no value until it can. {}", what, cause);
			}
			else {
				logger.warn("{} cannot be read; its meters have no value until it can", what, failure);
			}
		}

		ConsumptionSample sample(@Nullable Map<String, TopicFigures> group, List<MovePhaseReport> found) {
			Map<ShardId, ShardFigures> sampled = new HashMap<>();
			this.shards
				.forEach((shard) -> sampled.put(shard, this.figures.figures(shard, this.problems.containsKey(shard))));
			ConsumptionSampler.this.known = KnownFigures.of(sampled, this.activities);
			return new ConsumptionSample(ConsumptionSampler.this.consumption.topics().get(),
					ConsumptionSampler.this.consumption.broadcastTopics().get(), sampled, group, found);
		}

	}

	/**
	 * What figures are read from.
	 *
	 * @param deadLetters the dead letters; {@code null} if the store has none
	 */
	public record Stores(CoordinationStore coordination, CheckpointStore checkpoints,
			@Nullable DeadLetterStore deadLetters, SourceRegistry sources) {

	}

	/** Finds phases of moves. Confined to the sampler's loop. */
	@FunctionalInterface
	public interface PhaseSource {

		/**
		 * Returns the phases that have become known since the last call.
		 * @param leads whether this instance leads the group
		 */
		List<MovePhaseReport> next(boolean leads);

	}

	/**
	 * What this instance consumes.
	 *
	 * @param topics the consumed topics without broadcast topics
	 * @param broadcastTopics the consumed broadcast topics
	 * @param shards the shards of both
	 * @param problems the problem of each of these shards that has one
	 * @param activity returns what this instance has done with one of them; {@code null}
	 * if its figures have to be read each time
	 */
	public record Consumption(Supplier<Set<String>> topics, Supplier<Set<String>> broadcastTopics,
			Supplier<Set<ShardId>> shards, Supplier<Map<ShardId, String>> problems,
			Function<ShardId, @Nullable ShardActivity> activity) {

	}

}
