package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

import io.github.shardkeeper.worker.ConsumerMeters;

/**
 * Meters of consumption: timer {@code shardkeeper.handler} (calls) and counters
 * {@code shardkeeper.records}, {@code shardkeeper.handler.failures},
 * {@code shardkeeper.dead.letters} and {@code shardkeeper.commits} (tag {@code outcome}),
 * all by {@code topic}. Thread-safe.
 */
public final class MicrometerConsumerMeters implements ConsumerMeters {

	private final MeterRegistry registry;

	/** Meters by topic, because the registry's lookup is slow for every call. */
	private final Map<String, Handled> handled = new ConcurrentHashMap<>();

	/** Creates the meters. */
	public MicrometerConsumerMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void handled(String topic, int records, Duration duration) {
		Handled meters = this.handled.computeIfAbsent(topic, this::handledMeters);
		meters.calls.record(duration);
		meters.records.increment(records);
	}

	private Handled handledMeters(String topic) {
		return new Handled(this.registry.timer("shardkeeper.handler", "topic", topic),
				this.registry.counter("shardkeeper.records", "topic", topic));
	}

	@Override
	public void deadLettered(String topic) {
		this.registry.counter("shardkeeper.dead.letters", "topic", topic).increment();
	}

	@Override
	public void failed(String topic) {
		this.registry.counter("shardkeeper.handler.failures", "topic", topic).increment();
	}

	@Override
	public void committed(String topic, boolean accepted) {
		this.registry.counter("shardkeeper.commits", "topic", topic, "outcome", accepted ? "committed" : "stale")
			.increment();
	}

	private record Handled(Timer calls, Counter records) {

	}

}
