package io.github.shardkeeper.actuate;

import java.time.Duration;

import io.micrometer.core.instrument.MeterRegistry;

import io.github.shardkeeper.consumer.ConsumerMeters;

/**
 * Meters of consumption: timer {@code shardkeeper.handler} and counters
 * {@code shardkeeper.handler.failures} and {@code shardkeeper.commits} (tag
 * {@code outcome}), all by {@code topic}. Thread-safe.
 */
public final class MicrometerConsumerMeters implements ConsumerMeters {

	private final MeterRegistry registry;

	/**
	 * Creates the meters.
	 * @param registry where they are kept
	 */
	public MicrometerConsumerMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void handled(String topic, Duration duration) {
		this.registry.timer("shardkeeper.handler", "topic", topic).record(duration);
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

}
