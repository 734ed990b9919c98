package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.operations.ConsumptionSample;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Meters of the group and of this instance in it: gauges of the session and of the
 * buffer, the timers {@code shardkeeper.heartbeat} and {@code shardkeeper.moves}, and
 * gauges of the last sample. A gauge whose topic or shard is not in the sample any more
 * is removed. A registry that fails has no effect on its callers. Thread-safe.
 */
public final class MicrometerGroupMeters implements Consumer<ConsumptionSample>, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(MicrometerGroupMeters.class);

	private final MeterRegistry registry;

	private final Tags tags;

	private final boolean perShard;

	private final @Nullable Timer heartbeats;

	private final Map<Figure, Sampled> gauges = new ConcurrentHashMap<>();

	/** Of the session and the buffer. */
	private final Map<String, Meter> bound = new ConcurrentHashMap<>();

	/** Creates the meters, and registers those that need no sample. */
	public MicrometerGroupMeters(MeterRegistry registry, ShardCoordinator coordinator, ShardConsumerRunner runner,
			boolean perShard) {
		this.registry = registry;
		this.tags = Tags.of("group", coordinator.settings().group());
		this.perShard = perShard;
		Timer timer = null;
		try {
			timer = registry.timer("shardkeeper.heartbeat", this.tags);
			bind("shardkeeper.lease.remaining", "seconds", coordinator,
					(member) -> member.leaseRemaining().toMillis() / 1000.0);
			bind("shardkeeper.leader", null, coordinator, (member) -> member.isLeader() ? 1 : 0);
			bind("shardkeeper.buffer.used", "bytes", runner, ShardConsumerRunner::bufferedBytes);
		}
		catch (RuntimeException ex) {
			notRegistered(ex);
		}
		this.heartbeats = timer;
	}

	private static void notRegistered(RuntimeException failure) {
		logger.warn("Meters of the group cannot be registered; consumption continues", failure);
	}

	private <T> void bind(String name, @Nullable String unit, T of, ToDoubleFunction<T> value) {
		this.bound.put(name, Gauge.builder(name, of, value).baseUnit(unit).tags(this.tags).register(this.registry));
	}

	/** Times a heartbeat. */
	public void heartbeatAnswered(Duration latency) {
		if (this.heartbeats != null) {
			this.heartbeats.record(latency);
		}
	}

	/** Times a move of a shard, on the instance that leads. */
	public void moved(ShardMove move) {
		try {
			this.registry
				.timer("shardkeeper.moves", this.tags.and("topic", move.shard().topic(), "cause", move.cause().name()))
				.record(Duration.ofMillis(Math.max(0, move.assignedMillis() - move.plannedMillis())));
		}
		catch (RuntimeException ex) {
			logger.debug("A move cannot be counted", ex);
		}
	}

	/** Called on one thread at a time. */
	@Override
	public void accept(ConsumptionSample sample) {
		Map<Figure, Double> values = values(sample);
		try {
			values.forEach((figure, value) -> this.gauges.computeIfAbsent(figure, this::register).value = value);
			this.gauges.entrySet().removeIf((gauge) -> {
				boolean vanished = !values.containsKey(gauge.getKey());
				if (vanished) {
					this.registry.remove(gauge.getValue().meter());
				}
				return vanished;
			});
		}
		catch (RuntimeException ex) {
			logger.debug("A sample cannot be shown as meters", ex);
		}
	}

	private Map<Figure, Double> values(ConsumptionSample sample) {
		Map<Figure, Double> values = new HashMap<>();
		sample.shards().forEach((shard, figures) -> {
			Tags topic = this.tags.and("topic", shard.topic());
			Tags single = this.perShard ? topic.and("shard", shard.id()) : topic;
			values.merge(new Figure("shardkeeper.shards.owned", null, topic), 1.0, Double::sum);
			values.merge(new Figure("shardkeeper.shards.problems", null, topic), figures.problem() ? 1.0 : 0,
					Double::sum);
			LagReport lag = figures.lag();
			if (lag != null) {
				add(values, new Figure("shardkeeper.lag", "records", single), lag.records());
				Long age = lag.millis();
				if (age != null) {
					values.merge(new Figure("shardkeeper.lag.age", "seconds", single), age / 1000.0, Math::max);
				}
			}
			add(values, new Figure("shardkeeper.dead.letters.stored", null, single), figures.deadLetters());
			add(values, new Figure("shardkeeper.retries.waiting", null, single), figures.retries());
		});
		sample.group().forEach((topic, figures) -> {
			Tags of = this.tags.and("topic", topic);
			figures.states()
				.forEach((state, count) -> values.put(new Figure("shardkeeper.shards", null, of.and("state", state)),
						(double) count));
			values.put(new Figure("shardkeeper.shards.unowned", null, of), (double) figures.unowned());
			values.put(new Figure("shardkeeper.shards.unowned.age", "seconds", of), figures.unownedMillis() / 1000.0);
		});
		return values;
	}

	private static void add(Map<Figure, Double> values, Figure figure, @Nullable Long value) {
		if (value != null) {
			values.merge(figure, (double) value, Double::sum);
		}
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

	/** Last value of a gauge; the registry references it weakly. */
	private static final class Sampled {

		private volatile double value;

		private @Nullable Meter meter;

		Meter meter() {
			return Objects.requireNonNull(this.meter);
		}

	}

}
