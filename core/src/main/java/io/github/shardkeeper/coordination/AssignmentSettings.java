package io.github.shardkeeper.coordination;

import java.time.Duration;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;

/**
 * How a leader has shards assigned. Immutable.
 *
 * @param name what the strategy is called in the configuration
 * @param strategy decides the owners
 * @param catalog knows of shards what nobody can measure
 * @param foreign whether code of the application takes part, which may hang: it gets a
 * thread of its own and a limited time
 * @param timeout how long foreign code may take for one answer
 * @param loads how loads are measured, if the strategy looks at them
 */
public record AssignmentSettings(String name, AssignmentStrategy strategy, ShardCatalog catalog, boolean foreign,
		Duration timeout, LoadReporting loads) {

	/** How long foreign code may take where nothing else is configured. */
	public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

	/**
	 * Loads are measured, if at all, as the defaults say.
	 * @param name what the strategy is called in the configuration
	 * @param strategy decides the owners
	 * @param catalog knows of shards what nobody can measure
	 * @param foreign whether code of the application takes part
	 * @param timeout how long foreign code may take for one answer
	 */
	public AssignmentSettings(String name, AssignmentStrategy strategy, ShardCatalog catalog, boolean foreign,
			Duration timeout) {
		this(name, strategy, catalog, foreign, timeout, LoadReporting.DEFAULT);
	}

	/**
	 * A strategy that is part of this library: called where it is needed, and trusted to
	 * come back; all shards are alike.
	 * @param name its name
	 * @param strategy the strategy
	 * @return the settings
	 */
	public static AssignmentSettings builtIn(String name, AssignmentStrategy strategy) {
		return new AssignmentSettings(name, strategy, ShardCatalog.PLAIN, false, DEFAULT_TIMEOUT);
	}

}
