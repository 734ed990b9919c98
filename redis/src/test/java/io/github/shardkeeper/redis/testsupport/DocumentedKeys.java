package io.github.shardkeeper.redis.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keys that the reference names, so that tests cover one that is new there.
 */
public final class DocumentedKeys {

	private static final Pattern ROW = Pattern
		.compile("(?m)^\\| `(shardkeeper:\\{[^`<]*)` \\| (hash|sorted set|set|stream|string) \\|");

	private DocumentedKeys() {
	}

	/** Returns the keys of a group and a topic under the default prefix. */
	public static List<Key> all(String group, String topic) {
		List<Key> keys = new ArrayList<>();
		Matcher row = ROW.matcher(reference());
		while (row.find()) {
			String documented = row.group(1);
			keys.add(new Key(documented,
					documented.replace("{visits-app", "{" + group)
						.replace("/visits", "/" + topic)
						.replace("{visits", "{" + topic),
					row.group(2)));
		}
		if (keys.size() < 30) {
			throw new IllegalStateException("The reference is not understood, it has only " + keys);
		}
		return keys;
	}

	private static String reference() {
		try {
			return Files.readString(Path.of("..", "docs", "reference", "redis-keys.md"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A key.
	 *
	 * @param documented its name in the reference
	 * @param name its name for a group and a topic
	 * @param type its type in words
	 */
	public record Key(String documented, String name, String type) {

		/** Returns whether it belongs to a group, not to the topics of all groups. */
		public boolean isOfGroup() {
			return this.documented.startsWith("shardkeeper:{visits-app");
		}

	}

}
