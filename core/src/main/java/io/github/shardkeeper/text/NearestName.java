package io.github.shardkeeper.text;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;

import org.jspecify.annotations.Nullable;

/**
 * The name that somebody has probably meant who wrote another one. Has no state.
 */
public final class NearestName {

	private NearestName() {
	}

	/**
	 * Returns the known name that is most like another one; {@code null} if more than
	 * about a third of its letters differ.
	 */
	public static @Nullable String of(String wrong, Collection<String> known) {
		return known.stream()
			.min(Comparator.comparingInt((String name) -> distance(wrong, name))
				.thenComparing(Comparator.naturalOrder()))
			.filter((nearest) -> distance(wrong, nearest) <= (nearest.length() + 1) / 3)
			.orElse(null);
	}

	/** Returns a sentence that asks for it, with a space before; empty for none. */
	public static String question(String wrong, Collection<String> known) {
		String nearest = of(wrong, known);
		return (nearest != null) ? " Did you mean '%s'?".formatted(nearest) : "";
	}

	/** Returns the Levenshtein distance. */
	private static int distance(String one, String other) {
		int[] above = new int[other.length() + 1];
		Arrays.setAll(above, (i) -> i);
		for (int i = 1; i <= one.length(); i++) {
			int[] row = new int[other.length() + 1];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = above[j - 1] + ((one.charAt(i - 1) != other.charAt(j - 1)) ? 1 : 0);
				row[j] = Math.min(replaced, 1 + Math.min(above[j], row[j - 1]));
			}
			above = row;
		}
		return above[other.length()];
	}

}
