package io.github.shardkeeper.checkpoint;

import io.github.shardkeeper.text.EncodableText;

/**
 * What identifies a timer of a shard: setting another one with the same key and name
 * replaces it. Immutable.
 *
 * @param key the key of the records that it belongs to, not empty
 * @param name its name among those of the key, not empty
 */
public record TimerId(String key, String name) {

	public TimerId {
		require(key, "key");
		require(name, "name");
	}

	private static void require(String text, String what) {
		if (text.isEmpty()) {
			throw new IllegalArgumentException("The %s of a timer must not be empty".formatted(what));
		}
		EncodableText.require(text, "The %s of a timer".formatted(what));
	}

}
