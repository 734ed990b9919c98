package io.github.shardkeeper.source;

import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;

/**
 * Names of the fields of a stream entry that are not headers. All sources of the project
 * reject headers of these names, so that records can change their source. Immutable.
 */
@Internal
public final class RecordFields {

	public static final String KEY = "k";

	public static final String PAYLOAD = "v";

	private RecordFields() {
	}

	/**
	 * Returns the size of a record as limits count it: one byte per character.
	 */
	static long size(@Nullable String key, byte[] payload, Map<String, String> headers) {
		long size = payload.length + ((key != null) ? key.length() : 0);
		if (!headers.isEmpty()) {
			for (Map.Entry<String, String> header : headers.entrySet()) {
				size += header.getKey().length() + header.getValue().length();
			}
		}
		return size;
	}

	/**
	 * Checks that no header has the name of one of these fields.
	 * @param headers the headers by name
	 * @throws IllegalArgumentException if one has
	 */
	public static void check(Map<String, String> headers) {
		Objects.requireNonNull(headers, "headers must not be null");
		for (String name : headers.keySet()) {
			if (name.equals(KEY) || name.equals(PAYLOAD)) {
				throw new IllegalArgumentException(
						"A header is called '%s', as the field of a stream's entry that holds its %s; rename it"
							.formatted(name, name.equals(KEY) ? "key" : "payload"));
			}
		}
	}

}
