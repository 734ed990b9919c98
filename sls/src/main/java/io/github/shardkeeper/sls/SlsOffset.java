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
 * begin                         before the first log that the shard has
 * &lt;cursor&gt;                      before the first log group of a cursor
 * &lt;origin&gt;:&lt;n&gt;                  after log n, from 0, of those that follow a cursor, its origin
 * &lt;origin&gt;:&lt;n&gt;:&lt;cursor&gt;:&lt;index&gt; the same, and log index, from 0, of a later cursor
 * </pre>
 *
 * The last two may end with {@code :<next>}, the cursor of the next log.
 * <p>
 * The service gives one cursor for all log groups of a reply, and decides how many those
 * are. So a log is {@code <cursor>:<index>} only in reads that ask for this cursor. What
 * identifies it in every read is its number {@code n} after the origin: the cursor at
 * which the first reader of the shard has begun. A reader that resumes at an offset keeps
 * its origin and continues its count. The later cursor is where it resumes, so that it
 * reads at most one reply again; the next cursor saves that, too, and the position stays
 * valid when the logs before it expire.
 * <p>
 * A cursor is the base64 text of a decimal number that grows within a shard. The service
 * does not document this, but the vendor's own connectors rely on it too. Immutable.
 *
 * @param origin the cursor from which logs are counted, {@code null} for the beginning
 * @param ordinal the number of the log after the origin, -1 for the position before the
 * first
 * @param cursor the cursor at which the log was read, the origin or a later one
 * @param index the number of the log after that cursor
 * @param next the cursor after the log, {@code null} if another log may follow
 */
record SlsOffset(@Nullable String origin, long ordinal, @Nullable String cursor, long index, @Nullable String next) {

	static final SlsOffset BEGIN = new SlsOffset(null, -1, null, -1, null);

	private static final String BEGIN_TEXT = "begin";

	private static final String CURSOR = "([A-Za-z0-9+/]+={0,2})";

	private static final String NUMBER = "(0|[1-9][0-9]{0,17})";

	private static final Pattern TEXT = Pattern
		.compile("%1$s(?::%2$s(?::%1$s:%2$s)?(?::%1$s)?)?".formatted(CURSOR, NUMBER));

	/** Returns the position before the first log of a cursor. */
	static SlsOffset before(String cursor) {
		return new SlsOffset(cursor, -1, cursor, -1, null);
	}

	/**
	 * Parses an offset.
	 * @throws IllegalArgumentException if it is none of this source
	 */
	static SlsOffset parse(Offset offset) {
		if (offset.value().equals(BEGIN_TEXT)) {
			return BEGIN;
		}
		SlsOffset parsed = parsed(TEXT.matcher(offset.value()));
		if (parsed == null) {
			throw new IllegalArgumentException(("'%s' is no offset of an SLS topic; those are 'begin', a cursor such "
					+ "as 'MTQ0NzI5OTYwNjg5NjYzMjM1Ng==', or '<cursor>:<n>' with what may follow it, as records have "
					+ "them")
				.formatted(offset));
		}
		return parsed;
	}

	private static @Nullable SlsOffset parsed(Matcher text) {
		if (!text.matches() || number(text.group(1)) == null
				|| text.group(5) != null && number(text.group(5)) == null) {
			return null;
		}
		String origin = text.group(1);
		long ordinal = (text.group(2) != null) ? Long.parseLong(text.group(2)) : -1;
		String cursor = text.group(3);
		if (cursor == null) {
			return new SlsOffset(origin, ordinal, origin, ordinal, text.group(5));
		}
		long index = Long.parseLong(text.group(4));
		boolean valid = isBefore(origin, cursor) && index <= ordinal;
		return valid ? new SlsOffset(origin, ordinal, cursor, index, text.group(5)) : null;
	}

	Offset toOffset() {
		if (this.origin == null) {
			return new Offset(BEGIN_TEXT);
		}
		if (this.ordinal < 0) {
			return new Offset(this.origin);
		}
		StringBuilder text = new StringBuilder(identity().value());
		if (!this.origin.equals(this.cursor)) {
			text.append(':').append(this.cursor).append(':').append(this.index);
		}
		if (this.next != null) {
			text.append(':').append(this.next);
		}
		return new Offset(text.toString());
	}

	/** Returns what identifies the log in every read that counts from its origin. */
	Offset identity() {
		return new Offset(this.origin + ":" + this.ordinal);
	}

	/**
	 * Returns the position before this log, so that it is the next one. Its cursor
	 * becomes the origin: after going back, logs are read again.
	 */
	SlsOffset previous() {
		return (this.ordinal < 0) ? this
				: new SlsOffset(this.cursor, this.index - 1, this.cursor, this.index - 1, null);
	}

	/** Returns where to read from, {@code null} for the beginning. */
	@Nullable Place resumeAt() {
		if (this.origin == null || this.cursor == null) {
			return null;
		}
		return (this.next != null) ? new Place(this.next, this.origin, this.ordinal + 1)
				: new Place(this.cursor, this.origin, this.ordinal - this.index);
	}

	/** Returns the number of logs to skip from there. */
	long skip() {
		return (this.next != null) ? 0 : this.index + 1;
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

	/**
	 * A place to read from. Immutable.
	 *
	 * @param cursor the cursor
	 * @param origin the cursor from which logs are counted
	 * @param before the number of logs between the two
	 */
	record Place(String cursor, String origin, long before) {

		/** Returns a cursor from which logs are counted. */
		static Place origin(String cursor) {
			return new Place(cursor, cursor, 0);
		}

		/** Returns the offset of a log that is read from here. */
		SlsOffset log(long index, @Nullable String next) {
			return new SlsOffset(this.origin, this.before + index, this.cursor, index, next);
		}

		/** Returns the place after logs that were read from here. */
		Place after(int logs, String next) {
			return new Place(next, this.origin, this.before + logs);
		}

	}

}
