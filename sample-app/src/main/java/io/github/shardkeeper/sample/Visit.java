package io.github.shardkeeper.sample;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What one line of Apache's combined (or common) format tells about a visit.
 *
 * @param bytes how much was sent, 0 where the line does not tell
 * @param time when it was, in the log's own format; empty where the line does not tell
 */
record Visit(long bytes, String time) {

	/** A line that is cut off or garbled is a visit all the same. */
	static final Visit UNREADABLE = new Visit(0, "");

	private static final Pattern ESCAPED = Pattern.compile("\\\\.");

	private static final Pattern FORMAT = Pattern
		.compile("\\S+ [^\\[]*\\[(?<time>[^]]+)] \"[^\"]*\" \\d{3} (?<bytes>\\d{1,18}|-)(?: \"[^\"]*\" \"[^\"]*\")?");

	static Visit parse(String line) {
		// An escaped quote ends no field; without escapes the pattern stays simple.
		Matcher matcher = FORMAT.matcher(ESCAPED.matcher(line).replaceAll("_"));
		if (!matcher.matches()) {
			return UNREADABLE;
		}
		String bytes = matcher.group("bytes");
		return new Visit(bytes.equals("-") ? 0 : Long.parseLong(bytes), matcher.group("time"));
	}

}
