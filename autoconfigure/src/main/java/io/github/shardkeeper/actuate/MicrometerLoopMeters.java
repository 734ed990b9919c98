package io.github.shardkeeper.actuate;

import io.micrometer.core.instrument.MeterRegistry;

import io.github.shardkeeper.loop.LoopMeters;

/**
 * Meters of Shardkeeper's own loops: counters {@code shardkeeper.loop.failures} and
 * {@code shardkeeper.loop.stalls}, both by {@code loop}; each is registered with its
 * first increment. Thread-safe.
 */
public final class MicrometerLoopMeters implements LoopMeters {

	private final MeterRegistry registry;

	/** Creates the meters. */
	public MicrometerLoopMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void failed(String loop) {
		this.registry.counter("shardkeeper.loop.failures", "loop", loop).increment();
	}

	@Override
	public void stalled(String loop) {
		this.registry.counter("shardkeeper.loop.stalls", "loop", loop).increment();
	}

}
