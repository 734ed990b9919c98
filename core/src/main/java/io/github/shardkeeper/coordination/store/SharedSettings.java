package io.github.shardkeeper.coordination.store;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The settings of an instance that its group compares, by the names of their properties.
 * A setting that one of two instances does not have is not compared: it belongs to
 * another topic, or to another version. Immutable.
 *
 * @param dividing the settings that divide the data where two instances differ: each
 * would consume, or keep, what the other one does not know of
 * @param harmless the settings in which instances may differ for a while
 */
public record SharedSettings(SortedMap<String, String> dividing, SortedMap<String, String> harmless) {

	/** Nothing that could be compared. */
	public static final SharedSettings NONE = new SharedSettings(new TreeMap<>(), new TreeMap<>());

	/** Far more than a setting that is worth reading. */
	private static final int MAX_LENGTH = 200;

	public SharedSettings {
		dividing = oneLine(dividing);
		harmless = oneLine(harmless);
	}

	/** Long values keep their beginning, and a number that differs if the rest does. */
	private static SortedMap<String, String> oneLine(Map<String, String> values) {
		SortedMap<String, String> lines = new TreeMap<>();
		values.forEach((name, value) -> {
			String line = value.replaceAll("\\p{Cntrl}", " ");
			lines.put(name, (line.length() <= MAX_LENGTH) ? line
					: line.substring(0, MAX_LENGTH) + "… #" + Integer.toHexString(line.hashCode()));
		});
		return Collections.unmodifiableSortedMap(lines);
	}

	/** Returns whether another instance has another value that divides the data. */
	public boolean conflictsWith(SharedSettings other) {
		return this.dividing.entrySet()
			.stream()
			.anyMatch((own) -> !own.getValue().equals(other.dividing.getOrDefault(own.getKey(), own.getValue())));
	}

}
