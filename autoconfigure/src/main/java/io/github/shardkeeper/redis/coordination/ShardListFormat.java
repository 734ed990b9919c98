package io.github.shardkeeper.redis.coordination;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Shards with their parents as text, <code>4:5&lt;1 6&lt;2,3 spare</code>: entries with a
 * space between them, each an id or two numbers from which to which, and perhaps the
 * parents that all of these have. A topic whose shards were split a thousand times says
 * so in a few kilobytes.
 */
final class ShardListFormat {

	private ShardListFormat() {
	}

	/**
	 * Writes shards.
	 * @param parents by shard id its parents, numbers in their order
	 */
	static String write(Map<String, SortedSet<String>> parents) {
		StringBuilder text = new StringBuilder();
		String first = null;
		String last = null;
		SortedSet<String> common = Collections.emptySortedSet();
		for (Map.Entry<String, SortedSet<String>> entry : parents.entrySet()) {
			boolean goesOn = last != null && entry.getValue().equals(common) && follows(last, entry.getKey());
			if (!goesOn) {
				append(text, first, last, common);
				first = entry.getKey();
				common = entry.getValue();
			}
			last = entry.getKey();
		}
		append(text, first, last, common);
		return text.toString();
	}

	private static boolean follows(String number, String next) {
		return ShardId.number(number) >= 0 && ShardId.number(next) == ShardId.number(number) + 1;
	}

	private static void append(StringBuilder text, @Nullable String first, @Nullable String last,
			SortedSet<String> parents) {
		if (first == null || last == null) {
			return;
		}
		text.append(text.isEmpty() ? "" : " ").append(first);
		if (!last.equals(first)) {
			text.append(':').append(last);
		}
		if (!parents.isEmpty()) {
			text.append('<').append(String.join(",", parents));
		}
	}

	/**
	 * Reads what {@link #write} wrote.
	 * @return by shard id its parents
	 */
	static Map<String, List<String>> read(String text) {
		Map<String, List<String>> parents = new TreeMap<>();
		if (text.isEmpty()) {
			return parents;
		}
		for (String entry : text.split(" ")) {
			String[] sides = entry.split("<", 2);
			List<String> common = (sides.length > 1) ? Arrays.asList(sides[1].split(",")) : List.of();
			String[] range = sides[0].split(":", 2);
			if (range.length == 1) {
				parents.put(sides[0], common);
				continue;
			}
			for (int number = Integer.parseInt(range[0]); number <= Integer.parseInt(range[1]); number++) {
				parents.put(Integer.toString(number), common);
			}
		}
		return parents;
	}

}
