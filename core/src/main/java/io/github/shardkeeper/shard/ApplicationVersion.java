package io.github.shardkeeper.shard;

import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a member's application. Immutable.
 * <p>
 * Ordered by age, older versions first. The parts between dots, dashes, underscores and
 * pluses (and between digits and letters) are compared one by one: numbers by value, text
 * ignoring case. An additional number makes a version newer, additional text older:
 * {@code 1.0-RC2 < 1.0-SNAPSHOT < 1.0 < 1.0.1 < 1.9 < 1.10}. Additional zeros make no
 * difference. A {@code v} before the first digit is ignored.
 * <p>
 * Text whose first part is not a number, such as {@code 3f2a9c0} or {@code blue}, cannot
 * be ordered. All such versions, including the unknown one, have the same age and are
 * older than all others. So this order is not consistent with {@code equals}.
 *
 * @param value the text; empty if unknown
 */
public record ApplicationVersion(String value) implements Comparable<ApplicationVersion> {

	public ApplicationVersion {
		Objects.requireNonNull(value, "value must not be null");
	}

	/** Unknown version. */
	public static final ApplicationVersion UNKNOWN = new ApplicationVersion("");

	private static final Pattern ORDERED = Pattern.compile("[vV]?([0-9]+(?:[._+-].*)?)", Pattern.DOTALL);

	private static final Pattern PART = Pattern.compile("[0-9]+|[^0-9._+-]+");

	@Override
	public int compareTo(ApplicationVersion other) {
		if (this.value.equals(other.value)) {
			// The most common case; splitting a version is slow.
			return 0;
		}
		List<String> mine = parts();
		List<String> others = other.parts();
		if (mine.isEmpty() || others.isEmpty()) {
			return Boolean.compare(others.isEmpty(), mine.isEmpty());
		}
		for (int i = 0; i < Math.max(mine.size(), others.size()); i++) {
			int order = compare((i < mine.size()) ? mine.get(i) : "0", (i < others.size()) ? others.get(i) : "0");
			if (order != 0) {
				return order;
			}
		}
		return 0;
	}

	private static int compare(String part, String other) {
		boolean number = isNumber(part);
		if (number != isNumber(other)) {
			return number ? 1 : -1;
		}
		return number ? new BigInteger(part).compareTo(new BigInteger(other)) : part.compareTo(other);
	}

	private static boolean isNumber(String part) {
		return part.charAt(0) >= '0' && part.charAt(0) <= '9';
	}

	/** Returns whether this version tells its age: its first part is a number. */
	public boolean isOrdered() {
		return ORDERED.matcher(this.value).matches();
	}

	/** Empty if this version cannot be ordered. */
	private List<String> parts() {
		Matcher ordered = ORDERED.matcher(this.value);
		return ordered.matches()
				? PART.matcher(ordered.group(1).toLowerCase(Locale.ROOT)).results().map(MatchResult::group).toList()
				: List.of();
	}

	@Override
	public String toString() {
		return this.value;
	}

}
