package io.github.shardkeeper.sls;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * Position in a shard of a logstore, one of:
 *
 * <pre>
 * begin                        before the first log that the shard has
 * &lt;cursor&gt;                     before the first log group of a cursor
 * &lt;cursor&gt;:&lt;n&gt;                 after log n, from 0, of the log groups that follow a cursor
 * &lt;cursor&gt;:&lt;n&gt;:&lt;next cursor&gt;   the same; no log follows before the next cursor
 * </pre>
 *
 * The service gives one cursor for all log groups of an answer, so {@code n} counts the
 * logs of all groups that follow the cursor, however many groups an answer has. The last
 * log of an answer also holds the cursor of the next one: reading resumes there without
 * reading its predecessors again, and the position stays valid when they expire.
 * <p>
 * A cursor is the base64 text of a decimal number that grows within a shard. The service
 * does not document this, but the vendor's own connectors rely on it too. Immutable.
 *
 * @param cursor the cursor, {@code null} for the beginning
 * @param ordinal the ordinal of the log, -1 for the position before the first
 * @param next the cursor after the log, {@code null} if another log may follow
 */
record SlsOffset(@Nullable String cursor, long ordinal, @Nullable String next) {

	static final SlsOffset BEGIN = new SlsOffset(null, -1, null);

	private static final String BEGIN_TEXT = "begin";

	private static final Pattern TEXT = Pattern
		.compile("([A-Za-z0-9+/]+={0,2})(?::(0|[1-9][0-9]{0,17})(?::([A-Za-z0-9+/]+={0,2}))?)?");

	/** Returns the position before the first log of a cursor. */
	static SlsOffset before(String cursor) {
		return new SlsOffset(cursor, -1, null);
	}

	/**
	 * Parses an offset.
	 * @throws IllegalArgumentException if it is none of this source
	 */
	static SlsOffset parse(Offset offset) {
		if (offset.value().equals(BEGIN_TEXT)) {
			return BEGIN;
		}
		Matcher text = TEXT.matcher(offset.value());
		if (!text.matches() || number(text.group(1)) == null
				|| text.group(3) != null && number(text.group(3)) == null) {
			throw new IllegalArgumentException(("'%s' is no offset of an SLS topic; those are 'begin', a cursor such "
					+ "as 'MTQ0NzI5OTYwNjg5NjYzMjM1Ng==', or '<cursor>:<n>' as records have them")
				.formatted(offset));
		}
		return new SlsOffset(text.group(1), (text.group(2) != null) ? Long.parseLong(text.group(2)) : -1,
				text.group(3));
	}

	Offset toOffset() {
		if (this.cursor == null) {
			return new Offset(BEGIN_TEXT);
		}
		if (this.ordinal < 0) {
			return new Offset(this.cursor);
		}
		String text = this.cursor + ":" + this.ordinal;
		return new Offset((this.next != null) ? text + ":" + this.next : text);
	}

	/** Returns the position before this log, so that it is the next one. */
	SlsOffset previous() {
		return (this.ordinal < 0) ? this : new SlsOffset(this.cursor, this.ordinal - 1, null);
	}

	/** Returns the cursor to read from, {@code null} for the beginning. */
	@Nullable String readFrom() {
		return (this.next != null) ? this.next : this.cursor;
	}

	/** Returns the number of logs to skip from there. */
	long skip() {
		return (this.next != null) ? 0 : this.ordinal + 1;
	}

	/** Returns whether one cursor is before another; false if that is not known. */
	static boolean isBefore(String cursor, String other) {
		BigInteger number = number(cursor);
		BigInteger otherNumber = number(other);
		return number != null && otherNumber != null && number.compareTo(otherNumber) < 0;
	}

	private static @Nullable BigInteger number(String cursor) {
		try {
			String text = new String(Base64.getDecoder().decode(cursor), StandardCharsets.US_ASCII);
			boolean digits = !text.isEmpty() && text.length() <= 40
					&& text.chars().allMatch((c) -> c >= '0' && c <= '9');
			return digits ? new BigInteger(text) : null;
		}
		catch (IllegalArgumentException ex) {
			// Not base64.
			return null;
		}
	}

	@Override
	public String toString() {
		return toOffset().value();
	}

}
