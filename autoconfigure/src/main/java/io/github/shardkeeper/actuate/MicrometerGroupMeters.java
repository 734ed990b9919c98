package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.operations.reporting.ConsumptionSample;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Meters of the group and of this instance in it: gauges of the session, the timers
 * {@code shardkeeper.heartbeat}, {@code shardkeeper.plan}, {@code shardkeeper.moves} and
 * {@code shardkeeper.move.phases}, the counter {@code shardkeeper.rebalances}, and gauges
 * of the last sample. A gauge whose value is not known is {@code NaN}; one whose topic or
 * shard is not in the sample any more is removed. A registry that fails has no effect on
 * its callers. Thread-safe.
 */
public final class MicrometerGroupMeters implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(MicrometerGroupMeters.class);

	private static final List<String> CAUSES = Arrays.stream(MoveCause.values()).map(Enum::name).toList();

	/** Plans that are remembered for each cause: moves of several may be mixed. */
	private static final int MOST_PLANS = 100;

	private final MeterRegistry registry;

	private final Tags tags;

	private final boolean perShard;

	private final @Nullable Timer heartbeats;

	private final @Nullable Timer plans;

	private final Map<Figure, Sampled> gauges = new ConcurrentHashMap<>();

	/** Of the session. */
	private final Map<String, Meter> bound = new ConcurrentHashMap<>();

	/** Topics whose timers of moves are registered; confined to the sampler's loop. */
	private final Set<String> timed = new LinkedHashSet<>();

	/** Times of the last plans by cause; guarded by itself. */
	private final Map<MoveCause, Set<Long>> planned = new HashMap<>();

	/** Creates the meters, and registers those that need no sample. */
	public MicrometerGroupMeters(MeterRegistry registry, ShardCoordinator coordinator, boolean perShard) {
		this.registry = registry;
		this.tags = Tags.of("group", coordinator.settings().group());
		this.perShard = perShard;
		Timer heartbeat = null;
		Timer plan = null;
		try {
			heartbeat = registry.timer("shardkeeper.heartbeat", this.tags);
			plan = registry.timer("shardkeeper.plan", this.tags);
			CAUSES.forEach((cause) -> registry.counter("shardkeeper.rebalances", this.tags.and("cause", cause)));
			bind("shardkeeper.lease.remaining", "seconds", coordinator,
					(member) -> member.leaseRemaining().toMillis() / 1000.0);
			bind("shardkeeper.leader", null, coordinator, (member) -> member.isLeader() ? 1 : 0);
		}
		catch (RuntimeException ex) {
			notRegistered(ex);
		}
		this.heartbeats = heartbeat;
		this.plans = plan;
	}

	private static void notRegistered(RuntimeException failure) {
		logger.warn("Meters of the group cannot be registered; consumption continues", failure);
	}

	/** Leaves a gauge alone that another context has registered, as a parent does. */
	private <T> void bind(String name, @Nullable String unit, T of, ToDoubleFunction<T> value) {
		if (this.registry.find(name).tags(this.tags).gauge() != null) {
			return;
		}
		this.bound.put(name, Gauge.builder(name, of, value).baseUnit(unit).tags(this.tags).register(this.registry));
	}

	/** Times a heartbeat. */
	public void heartbeatAnswered(Duration latency) {
		if (this.heartbeats != null) {
			this.heartbeats.record(latency);
		}
	}

	/** Times the computation of an assignment, on the instance that leads. */
	public void planComputed(Duration duration) {
		if (this.plans != null) {
			this.plans.record(duration);
		}
	}

	/** Times a move of a shard, on the instance that leads. */
	public void moved(ShardMove move) {
		try {
			String topic = move.shard().topic();
			String cause = move.cause().name();
			moves(topic, cause).record(between(move.plannedMillis(), move.assignedMillis()));
			if (move.from() != null && move.to() != null) {
				phase(topic, cause, "drained", between(move.plannedMillis(), move.releasedMillis()));
			}
			if (move.to() != null) {
				phase(topic, cause, "unowned", between(move.releasedMillis(), move.assignedMillis()));
			}
			if (isFirstOfPlan(move)) {
				this.registry.counter("shardkeeper.rebalances", this.tags.and("cause", cause)).increment();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("A move cannot be counted", ex);
		}
	}

	/** Shards that are moved by one plan are revoked, or lost, at the same time. */
	private boolean isFirstOfPlan(ShardMove move) {
		synchronized (this.planned) {
			Set<Long> plansOfCause = this.planned.computeIfAbsent(move.cause(), (cause) -> new LinkedHashSet<>());
			boolean first = plansOfCause.add(move.plannedMillis());
			if (plansOfCause.size() > MOST_PLANS) {
				plansOfCause.remove(plansOfCause.iterator().next());
			}
			return first;
		}
	}

	private static Duration between(long fromMillis, long toMillis) {
		return Duration.ofMillis(Math.max(0, toMillis - fromMillis));
	}

	private Timer moves(String topic, String cause) {
		return this.registry.timer("shardkeeper.moves", this.tags.and("topic", topic, "cause", cause));
	}

	private void phase(String topic, String cause, String phase, Duration duration) {
		this.registry.timer("shardkeeper.move.phases", this.tags.and("topic", topic, "cause", cause, "phase", phase))
			.record(duration);
	}

	/** Shows a sample. Called on one thread at a time. */
	public void sampled(ConsumptionSample sample) {
		try {
			show(values(sample));
			sample.topics()
				.stream()
				.filter(this.timed::add)
				.forEach((topic) -> CAUSES.forEach((cause) -> moves(topic, cause)));
			sample.phases().forEach((found) -> phase(found.topic(), found.cause(), found.phase(), found.duration()));
		}
		catch (RuntimeException ex) {
			logger.debug("A sample cannot be shown as meters", ex);
		}
	}

	private void show(Map<Figure, Total> values) {
		values.forEach((figure, total) -> this.gauges.computeIfAbsent(figure, this::register).value = total.value());
		this.gauges.entrySet().removeIf((gauge) -> {
			boolean vanished = !values.containsKey(gauge.getKey());
			if (vanished) {
				this.registry.remove(gauge.getValue().meter());
			}
			return vanished;
		});
	}

	private Map<Figure, Total> values(ConsumptionSample sample) {
		Map<Figure, Total> values = new HashMap<>();
		List<String> consumed = new ArrayList<>(sample.topics());
		consumed.addAll(sample.broadcastTopics());
		consumed.forEach((topic) -> ofShards(topic, null, values));
		sample.shards().forEach((shard, figures) -> add(shard, figures, values));
		Map<String, ConsumptionSample.TopicFigures> group = sample.group();
		if (group == null) {
			sample.topics().forEach((topic) -> ofGroup(topic, null, values));
		}
		else {
			group.forEach((topic, figures) -> ofGroup(topic, figures, values));
		}
		return values;
	}

	/** Returns the totals of a topic here, or of one of its shards; new ones are 0. */
	private OfShards ofShards(String topic, @Nullable String shard, Map<Figure, Total> values) {
		Tags whole = this.tags.and("topic", topic);
		Tags single = (shard != null) ? whole.and("shard", shard) : whole;
		// With a tag for the shard there are no totals of topics.
		Map<Figure, Total> ofSingle = (this.perShard && shard == null) ? new HashMap<>() : values;
		return new OfShards(total(values, "shardkeeper.shards.owned", null, whole),
				total(values, "shardkeeper.shards.problems", null, whole),
				total(values, "shardkeeper.shards.unreadable", null, whole),
				total(ofSingle, "shardkeeper.lag", "records", single),
				total(ofSingle, "shardkeeper.lag.stable", "records", single),
				total(ofSingle, "shardkeeper.lag.age", "seconds", single),
				total(ofSingle, "shardkeeper.dead.letters.stored", null, single),
				total(ofSingle, "shardkeeper.retries.waiting", null, single));
	}

	private static Total total(Map<Figure, Total> values, String name, @Nullable String unit, Tags tags) {
		return values.computeIfAbsent(new Figure(name, unit, tags), (figure) -> new Total());
	}

	private void add(ShardId shard, ShardFigures figures, Map<Figure, Total> values) {
		OfShards of = ofShards(shard.topic(), this.perShard ? shard.id() : null, values);
		of.owned.add(1);
		of.problems.add(figures.problem() ? 1 : 0);
		of.unreadable.add(figures.unreadable() ? 1 : 0);
		LagReport lag = figures.lag();
		of.lag.add((lag != null) ? lag.records() : null);
		of.stable.add((lag == null) ? null : (lag.stable() != null) ? lag.stable() : lag.records());
		of.age.max((lag != null && lag.millis() != null) ? lag.millis() / 1000.0 : null);
		of.deadLetters.add(figures.deadLetters());
		of.retries.add(figures.retries());
	}

	private void ofGroup(String topic, ConsumptionSample.@Nullable TopicFigures figures, Map<Figure, Total> values) {
		Tags of = this.tags.and("topic", topic);
		ConsumptionSample.STATES.forEach((state) -> total(values, "shardkeeper.shards", null, of.and("state", state))
			.add((figures != null) ? figures.states().getOrDefault(state, 0) : null));
		total(values, "shardkeeper.shards.unowned", null, of).add((figures != null) ? figures.unowned() : null);
		total(values, "shardkeeper.shards.unowned.age", "seconds", of)
			.add((figures != null) ? figures.unownedMillis() / 1000.0 : null);
	}

	private Sampled register(Figure figure) {
		Sampled sampled = new Sampled();
		sampled.meter = Gauge.builder(figure.name(), sampled, (known) -> known.value)
			.baseUnit(figure.unit())
			.tags(figure.tags())
			.register(this.registry);
		return sampled;
	}

	/** Removes all gauges: the registry may outlive the application's context. */
	@Override
	public void close() {
		this.bound.values().forEach(this.registry::remove);
		this.gauges.values().forEach((gauge) -> this.registry.remove(gauge.meter()));
		this.gauges.clear();
	}

	private record Figure(String name, @Nullable String unit, Tags tags) {

	}

	/** Sums over the shards of a topic, or figures of one shard. */
	private record OfShards(Total owned, Total problems, Total unreadable, Total lag, Total stable, Total age,
			Total deadLetters, Total retries) {

	}

	/**
	 * Sum, or largest, of what is known; {@code NaN} if nothing is known of any shard,
	 * and 0 without shards.
	 */
	private static final class Total {

		private double known;

		private boolean hasKnown;

		private boolean hasUnknown;

		void add(@Nullable Number value) {
			this.known += count(value);
		}

		void max(@Nullable Double value) {
			this.known = Math.max(this.known, count(value));
		}

		private double count(@Nullable Number value) {
			this.hasKnown |= value != null;
			this.hasUnknown |= value == null;
			return (value != null) ? value.doubleValue() : 0;
		}

		double value() {
			return (this.hasKnown || !this.hasUnknown) ? this.known : Double.NaN;
		}

	}

	/** Last value of a gauge; the registry references it weakly. */
	private static final class Sampled {

		private volatile double value = Double.NaN;

		private @Nullable Meter meter;

		Meter meter() {
			return Objects.requireNonNull(this.meter);
		}

	}

}
