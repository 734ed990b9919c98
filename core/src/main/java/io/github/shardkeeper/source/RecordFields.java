package io.github.shardkeeper.source;

import java.util.Map;
import java.util.Objects;

/**
 * The fields of an entry in a stream that are no headers. A source in memory has none,
 * and refuses the same headers, so that what is tried out there works elsewhere. Has no
 * state.
 */
public final class RecordFields {

	/** The field that holds a record's key. */
	public static final String KEY = "k";

	/** The field that holds a record's payload. */
	public static final String PAYLOAD = "v";

	private RecordFields() {
	}

	/**
	 * Checks that no header is called like one of these fields.
	 * @param headers headers by name
	 * @throws IllegalArgumentException when one is
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
