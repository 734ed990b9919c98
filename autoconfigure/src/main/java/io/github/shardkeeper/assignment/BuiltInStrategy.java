package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * The strategies that can be chosen by name.
 */
public enum BuiltInStrategy {

	/** {@link StickyAssignment}: even, with the fewest moves. */
	STICKY(new StickyAssignment()),

	/** {@link RangeAssignment}: each topic in pieces. */
	RANGE(new RangeAssignment()),

	/** {@link RoundRobinAssignment}: all topics dealt like cards. */
	ROUND_ROBIN(new RoundRobinAssignment()),

	/** {@link AverageAssignment}: each topic in pieces. */
	AVERAGE(new AverageAssignment()),

	/** {@link CircleAssignment}: each topic dealt like cards. */
	CIRCLE(new CircleAssignment()),

	/** {@link ConsistentHashAssignment}: the next instance on a ring that has room. */
	CONSISTENT_HASH(new ConsistentHashAssignment()),

	/** {@link LoadAwareAssignment}: by what shards are measured to take. */
	LOAD_AWARE(new LoadAwareAssignment(LoadAwareSettings.DEFAULT)),

	/** {@link IncrementalAssignment}: to the least loaded, in small steps. */
	INCREMENTAL(new IncrementalAssignment());

	/** The property that chooses one for all topics. */
	public static final String PROPERTY = "shardkeeper.assignment.strategy";

	private final AssignmentStrategy strategy;

	BuiltInStrategy(AssignmentStrategy strategy) {
		this.strategy = strategy;
	}

	/**
	 * Finds a strategy by its name, as {@value #PROPERTY} holds it.
	 * @param name the name
	 * @return the strategy
	 * @throws ShardkeeperConfigurationException when there is none of that name
	 */
	public static BuiltInStrategy named(String name) {
		return named(name, PROPERTY);
	}

	/**
	 * Finds a strategy by its name.
	 * @param name the name
	 * @param property the property that holds it, for the message
	 * @return the strategy
	 * @throws ShardkeeperConfigurationException when there is none of that name
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
				"'%s' is '%s', which is no assignment strategy.".formatted(property, name),
				"Write one of %s, or give the application a bean of type AssignmentStrategy."
					.formatted(String.join(", ", names())));
	}

	/**
	 * The names that can be written.
	 * @return an unmodifiable list
	 */
	public static List<String> names() {
		return Arrays.stream(values()).map(BuiltInStrategy::settingName).toList();
	}

	/**
	 * The name to write into a property.
	 * @return for example {@code round-robin}
	 */
	public String settingName() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * The strategy.
	 * @return the same one at each call, so that topics that name it are shared out
	 * together
	 */
	public AssignmentStrategy strategy() {
		return this.strategy;
	}

}
