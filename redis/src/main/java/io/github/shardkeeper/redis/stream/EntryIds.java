package io.github.shardkeeper.redis.stream;

import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.StartPosition;

/**
 * Calculates with entry ids of a stream, {@code <millis>-<number>}. Both parts are
 * unsigned 64-bit numbers; the first is the time at which Redis appended the entry. Has
 * no state.
 */
final class EntryIds {

	/** Before every entry: Redis gives none this id. */
	static final Offset BEFORE_ALL = new Offset("0-0");

	private static final Pattern ID = Pattern.compile("(\\d{1,20})(?:-(\\d{1,20}))?");

	private static final long HIGHEST = -1L;

	private EntryIds() {
	}

	/** Returns the highest id before a position that is the same in every stream. */
	static Offset before(StartPosition position) {
		if (position instanceof StartPosition.At at) {
			return before(at.time());
		}
		if (position instanceof StartPosition.After after) {
			return complete(after.last());
		}
		return (position instanceof StartPosition.From from) ? before(from.first()) : BEFORE_ALL;
	}

	private static Offset complete(Offset id) {
		long[] numbers = parse(id);
		return id(numbers[0], numbers[1]);
	}

	/** Returns the highest id before those of a time. */
	static Offset before(Instant time) {
		return before(Math.max(0, time.toEpochMilli()), 0);
	}

	static Offset before(Offset id) {
		long[] numbers = parse(id);
		return before(numbers[0], numbers[1]);
	}

	/** Returns the milliseconds and the number, 0 if the id has none. */
	private static long[] parse(Offset id) {
		Matcher matcher = ID.matcher(id.value());
		if (!matcher.matches()) {
			throw malformed(id);
		}
		try {
			String number = matcher.group(2);
			return new long[] { Long.parseUnsignedLong(matcher.group(1)),
					(number != null) ? Long.parseUnsignedLong(number) : 0 };
		}
		catch (NumberFormatException ex) {
			throw malformed(id);
		}
	}

	private static Offset before(long millis, long number) {
		if (number != 0) {
			return id(millis, number - 1);
		}
		return (millis != 0) ? id(millis - 1, HIGHEST) : BEFORE_ALL;
	}

	private static Offset id(long millis, long number) {
		return new Offset(Long.toUnsignedString(millis) + "-" + Long.toUnsignedString(number));
	}

	private static IllegalArgumentException malformed(Offset id) {
		return new IllegalArgumentException(
				"'%s' is no entry id of a Redis stream; one looks like 1795234348101-0".formatted(id));
	}

	/** Returns whether there can be no entry between two ids. */
	static boolean follows(String id, String before) {
		int dash = id.indexOf('-');
		return id.regionMatches(0, before, 0, dash + 1) && Long.parseUnsignedLong(id, dash + 1, id.length(), 10)
				- Long.parseUnsignedLong(before, dash + 1, before.length(), 10) == 1;
	}

	static int compare(String one, String other) {
		int dashOne = one.indexOf('-');
		int dashOther = other.indexOf('-');
		int byMillis = Long.compareUnsigned(Long.parseUnsignedLong(one, 0, dashOne, 10),
				Long.parseUnsignedLong(other, 0, dashOther, 10));
		return (byMillis != 0) ? byMillis
				: Long.compareUnsigned(Long.parseUnsignedLong(one, dashOne + 1, one.length(), 10),
						Long.parseUnsignedLong(other, dashOther + 1, other.length(), 10));
	}

}
