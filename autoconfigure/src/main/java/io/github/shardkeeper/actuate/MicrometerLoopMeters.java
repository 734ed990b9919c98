package io.github.shardkeeper.actuate;

import io.micrometer.core.instrument.MeterRegistry;

import io.github.shardkeeper.loop.LoopMeters;

/**
 * Meters of Shardkeeper's own loops: counters {@code shardkeeper.loop.failures} and
 * {@code shardkeeper.loop.stalls}, both by {@code group} and {@code loop}; both are
 * registered when the loop starts. Thread-safe.
 */
public final class MicrometerLoopMeters implements LoopMeters {

	private final MeterRegistry registry;

	private final String group;

	/** Creates the meters. */
	public MicrometerLoopMeters(MeterRegistry registry, String group) {
		this.registry = registry;
		this.group = group;
	}

	/** Registers both, so that their absence is not taken for silence. */
	@Override
	public void started(String loop) {
		this.registry.counter("shardkeeper.loop.failures", "group", this.group, "loop", loop);
		this.registry.counter("shardkeeper.loop.stalls", "group", this.group, "loop", loop);
	}

	@Override
	public void failed(String loop) {
		this.registry.counter("shardkeeper.loop.failures", "group", this.group, "loop", loop).increment();
	}

	@Override
	public void stalled(String loop) {
		this.registry.counter("shardkeeper.loop.stalls", "group", this.group, "loop", loop).increment();
	}

}
