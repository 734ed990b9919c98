package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.TopicBacklog;

/**
 * Meters of consumption, all by {@code group} and {@code topic}: timer
 * {@code shardkeeper.consume} (calls, by {@code error}), timer
 * {@code shardkeeper.commit}, and counters {@code shardkeeper.records},
 * {@code shardkeeper.records.size}, {@code shardkeeper.retries},
 * {@code shardkeeper.conflicts}, {@code shardkeeper.records.skipped},
 * {@code shardkeeper.handler.failures}, {@code shardkeeper.dead.letters} and
 * {@code shardkeeper.commits} (by {@code outcome}), and gauges
 * {@code shardkeeper.buffer}, {@code shardkeeper.buffer.used},
 * {@code shardkeeper.parked.keys}, {@code shardkeeper.parked.records},
 * {@code shardkeeper.parked.used}, {@code shardkeeper.outbox} and
 * {@code shardkeeper.outbox.used}. Thread-safe.
 */
public final class MicrometerConsumerMeters implements ConsumerMeters, AutoCloseable {

	private final MeterRegistry registry;

	private final String group;

	private final boolean timesCalls;

	/** What waits in the last run, by topic. */
	private final Map<String, Current> backlogs = new ConcurrentHashMap<>();

	private final Queue<Meter> gauges = new ConcurrentLinkedQueue<>();

	/**
	 * Creates the meters.
	 * @param timesCalls whether calls are timed; they are not where an observation of
	 * each call has a timer of the same name
	 */
	public MicrometerConsumerMeters(MeterRegistry registry, String group, boolean timesCalls) {
		this.registry = registry;
		this.group = group;
		this.timesCalls = timesCalls;
	}

	@Override
	public TopicMeters of(String topic) {
		Tags tags = Tags.of("group", this.group, "topic", topic);
		return new Registered(this.registry, tags, this.timesCalls ? new CallTimers(this.registry, tags) : null,
				(backlog) -> waiting(topic, tags, backlog));
	}

	private void waiting(String topic, Tags tags, TopicBacklog backlog) {
		this.backlogs.computeIfAbsent(topic, (name) -> {
			Current current = new Current(backlog);
			gauge("shardkeeper.buffer", "records", tags, current, (waiting) -> waiting.buffered().records());
			gauge("shardkeeper.buffer.used", "bytes", tags, current, (waiting) -> waiting.buffered().bytes());
			gauge("shardkeeper.parked.keys", "keys", tags, current, (waiting) -> waiting.parked().keys());
			gauge("shardkeeper.parked.records", "records", tags, current, (waiting) -> waiting.parked().records());
			gauge("shardkeeper.parked.used", "ratio", tags, current, (waiting) -> waiting.parked().used());
			gauge("shardkeeper.outbox", "records", tags, current, (waiting) -> waiting.outboxes().records());
			gauge("shardkeeper.outbox.used", "ratio", tags, current, (waiting) -> waiting.outboxes().used());
			return current;
		}).value = backlog;
	}

	private void gauge(String name, String unit, Tags tags, Current of, ToDoubleFunction<TopicBacklog> figure) {
		this.gauges.add(Gauge.builder(name, of, (current) -> figure.applyAsDouble(current.value))
			.baseUnit(unit)
			.tags(tags)
			.register(this.registry));
	}

	/** Removes the gauges: the registry may outlive the application's context. */
	@Override
	public void close() {
		this.gauges.forEach(this.registry::remove);
		this.gauges.clear();
		this.backlogs.clear();
	}

	/** Holds its meters, because a lookup in the registry is slow for every record. */
	private static final class Registered implements TopicMeters {

		private final @Nullable CallTimers calls;

		private final Consumer<TopicBacklog> gauges;

		private final Counter records;

		private final Counter skipped;

		private final Counter failures;

		private final Counter handlerFailures;

		private final Counter deadLetters;

		private final Counter expiredDeadLetters;

		private final Counter retries;

		private final Counter conflicts;

		private final Counter bytes;

		private final Timer commits;

		private final Counter committed;

		private final Counter stale;

		Registered(MeterRegistry registry, Tags tags, @Nullable CallTimers calls, Consumer<TopicBacklog> gauges) {
			this.calls = calls;
			this.gauges = gauges;
			this.records = registry.counter("shardkeeper.records", tags);
			this.skipped = registry.counter("shardkeeper.records.skipped", tags);
			this.failures = registry.counter("shardkeeper.handler.failures", tags);
			this.handlerFailures = registry.counter("shardkeeper.failure.handler.failures", tags);
			this.deadLetters = registry.counter("shardkeeper.dead.letters", tags);
			this.expiredDeadLetters = registry.counter("shardkeeper.dead.letters.expired", tags);
			this.retries = registry.counter("shardkeeper.retries", tags);
			this.conflicts = registry.counter("shardkeeper.conflicts", tags);
			this.bytes = Counter.builder("shardkeeper.records.size").baseUnit("bytes").tags(tags).register(registry);
			this.commits = registry.timer("shardkeeper.commit", tags);
			this.committed = registry.counter("shardkeeper.commits", tags.and("outcome", "committed"));
			this.stale = registry.counter("shardkeeper.commits", tags.and("outcome", "stale"));
		}

		@Override
		public void waiting(TopicBacklog backlog) {
			this.gauges.accept(backlog);
		}

		@Override
		public void handled(int count, Duration duration) {
			if (this.calls != null) {
				this.calls.succeeded.record(duration);
			}
			this.records.increment(count);
		}

		@Override
		public void failed(Duration duration, Throwable failure) {
			if (this.calls != null) {
				this.calls.failed(failure).record(duration);
			}
			this.failures.increment();
		}

		@Override
		public void skipped(int count) {
			this.skipped.increment(count);
		}

		@Override
		public void notConverted() {
			this.failures.increment();
		}

		@Override
		public void failureHandlerFailed() {
			this.handlerFailures.increment();
		}

		@Override
		public void deadLettered() {
			this.deadLetters.increment();
		}

		@Override
		public void deadLettersExpired(int letters) {
			this.expiredDeadLetters.increment(letters);
		}

		@Override
		public void handledBytes(long size) {
			this.bytes.increment(size);
		}

		@Override
		public void retried() {
			this.retries.increment();
		}

		@Override
		public void conflicted() {
			this.conflicts.increment();
		}

		@Override
		public void commitAnswered(Duration latency) {
			this.commits.record(latency);
		}

		@Override
		public void committed(boolean accepted) {
			(accepted ? this.committed : this.stale).increment();
		}

	}

	/** What gauges of a topic show; the registry references it weakly. */
	private static final class Current {

		private volatile TopicBacklog value;

		Current(TopicBacklog value) {
			this.value = value;
		}

	}

	/** Timers of calls, with the tags that the observation of a call has. */
	private static final class CallTimers {

		private static final String NAME = "shardkeeper.consume";

		private final MeterRegistry registry;

		private final Tags tags;

		private final Timer succeeded;

		private final Map<String, Timer> failed = new ConcurrentHashMap<>();

		CallTimers(MeterRegistry registry, Tags tags) {
			this.registry = registry;
			this.tags = tags;
			this.succeeded = registry.timer(NAME, tags.and("error", "none"));
		}

		Timer failed(Throwable failure) {
			return this.failed.computeIfAbsent(name(failure.getClass()),
					(error) -> this.registry.timer(NAME, this.tags.and("error", error)));
		}

		private static String name(Class<?> type) {
			return type.isAnonymousClass() ? type.getSuperclass().getSimpleName() : type.getSimpleName();
		}

	}

}
