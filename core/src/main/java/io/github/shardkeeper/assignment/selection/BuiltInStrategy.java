package io.github.shardkeeper.assignment.selection;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.load.IncrementalAssignment;
import io.github.shardkeeper.assignment.load.LoadAwareAssignment;
import io.github.shardkeeper.assignment.load.LoadAwareSettings;
import io.github.shardkeeper.assignment.rules.CircleAssignment;
import io.github.shardkeeper.assignment.rules.ConsistentHashAssignment;
import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.assignment.rules.RoundRobinAssignment;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/** Built-in strategies, each with the name that selects it in the configuration. */
public enum BuiltInStrategy {

	STICKY(new StickyAssignment()),

	RANGE(new RangeAssignment()),

	ROUND_ROBIN(new RoundRobinAssignment()),

	/** Alias of {@link #RANGE}, for users of RocketMQ and EQueue. */
	AVERAGE(RANGE.strategy),

	CIRCLE(new CircleAssignment()),

	CONSISTENT_HASH(new ConsistentHashAssignment()),

	LOAD_AWARE(new LoadAwareAssignment(LoadAwareSettings.DEFAULT)),

	INCREMENTAL(new IncrementalAssignment());

	/** Property that selects the strategy for all topics. */
	public static final String PROPERTY = "shardkeeper.assignment.strategy";

	private final AssignmentStrategy strategy;

	BuiltInStrategy(AssignmentStrategy strategy) {
		this.strategy = strategy;
	}

	/**
	 * Returns the strategy with a name, as {@value #PROPERTY} holds it.
	 * @throws ShardkeeperConfigurationException if no strategy has that name
	 */
	public static BuiltInStrategy named(String name) {
		return named(name, PROPERTY);
	}

	/**
	 * Returns the strategy with a name, which {@code property} holds.
	 * @throws ShardkeeperConfigurationException if no strategy has that name
	 */
	public static BuiltInStrategy named(String name, String property) {
		Objects.requireNonNull(name, "name must not be null");
		Objects.requireNonNull(property, "property must not be null");
		for (BuiltInStrategy strategy : values()) {
			if (strategy.settingName().equals(name)) {
				return strategy;
			}
		}
		throw new ShardkeeperConfigurationException(
				"'%s' is '%s', which is not an assignment strategy.".formatted(property, name),
				"Write one of %s, or define a bean of type AssignmentStrategy.".formatted(String.join(", ", names())));
	}

	/** Returns the names of all built-in strategies. */
	public static List<String> names() {
		return Arrays.stream(values()).map(BuiltInStrategy::settingName).toList();
	}

	/** Returns the name in the configuration, for example {@code round-robin}. */
	public String settingName() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Returns the same instance at each call: topics that name it are assigned together.
	 */
	public AssignmentStrategy strategy() {
		return this.strategy;
	}

}
