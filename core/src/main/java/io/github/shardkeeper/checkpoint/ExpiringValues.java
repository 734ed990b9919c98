package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;

/**
 * Values of the state that expire, as they are stored: {@code @1764435600000 {"a":1}},
 * the time from which the value is missing, in milliseconds since 1970, and its text. No
 * JSON begins like that; a value without an expiry is stored as its text alone. Has no
 * state.
 */
@Internal
public final class ExpiringValues {

	/** Shortest time to live. */
	public static final Duration MIN_TTL = Duration.ofMillis(1);

	/** Longest time to live, practically for ever. */
	public static final Duration MAX_TTL = Duration.ofDays(36_500);

	/** Expiry of values that do not expire. */
	public static final long NEVER = Long.MAX_VALUE;

	private static final char BEGINNING = '@';

	private static final char END = ' ';

	/** So many digits always fit into a {@code long}. */
	private static final int MAX_DIGITS = 18;

	private ExpiringValues() {
	}

	/** Returns when a value expires that is put at a time. */
	public static long expiry(long nowMillis, @Nullable Duration ttl) {
		return (ttl != null) ? Math.max(0, nowMillis + ttl.toMillis()) : NEVER;
	}

	/** Returns what is stored of a value. */
	public static String stored(String value, long expiresAt) {
		return (expiresAt != NEVER) ? BEGINNING + Long.toString(expiresAt) + END + value : value;
	}

	/** Returns the number of characters that an expiry adds to what is stored. */
	public static int length(long expiresAt) {
		return (expiresAt != NEVER) ? Long.toString(expiresAt).length() + 2 : 0;
	}

	/** Returns when a stored value expires, {@link #NEVER} if it does not. */
	public static long expiresAt(String stored) {
		int end = end(stored);
		return (end > 0) ? Long.parseLong(stored, 1, end, 10) : NEVER;
	}

	/** Returns the value of what is stored. */
	public static String value(String stored) {
		int end = end(stored);
		return (end > 0) ? stored.substring(end + 1) : stored;
	}

	/**
	 * Returns the values that have not expired.
	 * @param stored the stored values by key
	 * @param nowMillis the time, in milliseconds since 1970
	 */
	public static Map<String, String> present(Map<String, String> stored, long nowMillis) {
		Map<String, String> present = new HashMap<>();
		stored.forEach((key, text) -> {
			if (expiresAt(text) > nowMillis) {
				present.put(key, value(text));
			}
		});
		return Collections.unmodifiableMap(present);
	}

	/** Returns the place of the end of the expiry, 0 if there is none. */
	private static int end(String stored) {
		if (stored.isEmpty() || stored.charAt(0) != BEGINNING) {
			return 0;
		}
		int end = 1;
		while (end < stored.length() && end <= MAX_DIGITS && isDigit(stored.charAt(end))) {
			end++;
		}
		return (end > 1 && end < stored.length() && stored.charAt(end) == END) ? end : 0;
	}

	private static boolean isDigit(char character) {
		return character >= '0' && character <= '9';
	}

}
