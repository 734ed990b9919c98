package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.slf4j.Logger;

import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Timer {@code shardkeeper.script} of the scripts that Redis runs, by {@code group} and
 * {@code script}. A registry that fails has no effect on its callers. Thread-safe.
 */
public final class MicrometerScriptMeters {

	private static final Logger logger = PrintableLogger.of(MicrometerScriptMeters.class);

	private final Map<String, Timer> timers = new ConcurrentHashMap<>();

	private final MeterGuard<MeterRegistry> registry;

	private final String group;

	/** Creates the meters. */
	public MicrometerScriptMeters(MeterRegistry registry, String group) {
		this.registry = new MeterGuard<>(registry,
				(failure) -> logger.warn("Scripts cannot be timed; they continue. Logged once", failure));
		this.group = group;
	}

	/** Times a script. */
	public void answered(String script, Duration duration) {
		this.registry.count((meters) -> this.timers
			.computeIfAbsent(script, (name) -> meters.timer("shardkeeper.script", "group", this.group, "script", name))
			.record(duration));
	}

}
