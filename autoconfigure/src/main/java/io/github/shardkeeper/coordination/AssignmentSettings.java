package io.github.shardkeeper.coordination;

import java.time.Duration;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.handover.LoadReporting;

/**
 * How a leader has shards assigned. Immutable.
 *
 * @param name what the strategy is called in the configuration
 * @param strategy decides the owners
 * @param foreign whether code of the application takes part, which may hang: it gets a
 * thread of its own and a limited time
 * @param timeout how long foreign code may take for one answer
 * @param loads how loads are measured, if the strategy looks at them
 */
public record AssignmentSettings(String name, AssignmentStrategy strategy, boolean foreign, Duration timeout,
		LoadReporting loads) {

	/** How long foreign code may take where nothing else is configured. */
	public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

	/**
	 * A strategy that is part of this library: called where it is needed, and trusted to
	 * come back.
	 * @param name its name
	 * @param strategy the strategy
	 * @return the settings
	 */
	public static AssignmentSettings builtIn(String name, AssignmentStrategy strategy) {
		return new AssignmentSettings(name, strategy, false, DEFAULT_TIMEOUT, LoadReporting.DEFAULT);
	}

}
