package io.github.shardkeeper.coordination.member;

import java.time.Duration;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;

/**
 * Settings of a leader's assignment strategy. Immutable.
 *
 * @param name the name of the strategy in the configuration
 * @param strategy the strategy
 * @param catalog the traits of shards that cannot be measured
 * @param foreign whether code of the application takes part, which may hang: it runs on a
 * thread of its own
 * @param timeout the time limit of foreign code for one reply
 * @param loads the settings of load measuring, for strategies that use loads
 */
public record AssignmentSettings(String name, AssignmentStrategy strategy, ShardCatalog catalog, boolean foreign,
		Duration timeout, LoadReporting loads) {

	/** Default time limit of foreign code for one reply. */
	public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

	/** Creates settings with the defaults of load measuring. */
	public AssignmentSettings(String name, AssignmentStrategy strategy, ShardCatalog catalog, boolean foreign,
			Duration timeout) {
		this(name, strategy, catalog, foreign, timeout, LoadReporting.DEFAULT);
	}

	/** Returns settings of a built-in strategy without a catalog. */
	public static AssignmentSettings builtIn(String name, AssignmentStrategy strategy) {
		return new AssignmentSettings(name, strategy, ShardCatalog.PLAIN, false, DEFAULT_TIMEOUT);
	}

}
