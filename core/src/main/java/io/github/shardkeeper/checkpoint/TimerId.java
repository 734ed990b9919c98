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
		require(key, "The key of a timer");
		require(name, "The name of a timer");
	}

	private static void require(String text, String what) {
		if (text.isEmpty()) {
			throw new IllegalArgumentException(what + " must not be empty");
		}
		EncodableText.require(text, what);
	}

}
