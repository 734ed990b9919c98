package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.DurationText;

/**
 * Properties whose values break a rule, each with the action that fixes it. Confined to
 * one thread.
 */
final class PropertyProblems {

	/** Actions that solve the problems, by description. */
	private final Map<String, String> actions = new LinkedHashMap<>();

	void requireBetween(String property, long value, long min, long max) {
		require(value >= min && value <= max, property, value, (max < Integer.MAX_VALUE)
				? "Set it to a number from %d to %d.".formatted(min, max) : "Set it to %d or more.".formatted(min));
	}

	void requireBetween(String property, Duration value, Duration min, Duration max) {
		requireAtLeast(property, value, min);
		require(value.compareTo(max) <= 0, property, value, "Set it to %s or less.".formatted(DurationText.of(max)));
	}

	void requireAtLeast(String property, @Nullable Duration value, Duration min) {
		require(value == null || value.compareTo(min) >= 0, property, value,
				"Set it to %s or more.".formatted(DurationText.of(min)));
	}

	void requireNameIfSet(String property, @Nullable String name) {
		if (name != null && !name.isEmpty()) {
			requireName(property, name);
		}
	}

	void requireName(String property, String name) {
		try {
			Names.requireValid(name, property);
		}
		catch (ShardkeeperConfigurationException ex) {
			reject(ex.getDescription(), ex.getAction());
		}
	}

	void require(boolean valid, String property, @Nullable Object value, String action) {
		if (!valid) {
			reject("'%s' is %s.".formatted(property,
					(value instanceof Duration duration) ? DurationText.of(duration) : value), action);
		}
	}

	void reject(String description, String action) {
		this.actions.putIfAbsent(description, action);
	}

	/**
	 * Throws if a rule is broken.
	 * @throws ShardkeeperConfigurationException with all problems
	 */
	void throwIfAny() {
		if (!this.actions.isEmpty()) {
			throw new ShardkeeperConfigurationException(lines(this.actions.keySet()), lines(this.actions.values()));
		}
	}

	/** Numbers several texts, so that each action can be matched to its description. */
	private static String lines(Collection<String> texts) {
		if (texts.size() == 1) {
			return texts.iterator().next();
		}
		List<String> lines = new ArrayList<>();
		texts.forEach((text) -> lines.add("%d. %s".formatted(lines.size() + 1, text)));
		return String.join("\n", lines);
	}

}
