package io.github.shardkeeper.sample;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Visit that a line of Apache's combined or common format describes. Immutable.
 *
 * @param bytes bytes that were sent, 0 if the line does not say
 * @param time time of the visit in the log's own format, empty if the line does not say
 */
public record Visit(long bytes, String time) {

	/** Visit of a line that is cut off or garbled; it counts, too. */
	public static final Visit UNREADABLE = new Visit(0, "");

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH);

	private static final Pattern ESCAPED = Pattern.compile("\\\\.");

	private static final Pattern FORMAT = Pattern
		.compile("\\S+ [^\\[]*\\[(?<time>[^]]+)] \"[^\"]*\" \\d{3} (?<bytes>\\d{1,18}|-)(?: \"[^\"]*\" \"[^\"]*\")?");

	/**
	 * Parses a line.
	 * @param line the line as the web server wrote it
	 * @return the visit, or {@link #UNREADABLE}
	 */
	public static Visit parse(String line) {
		// An escaped quote does not end a field.
		Matcher matcher = FORMAT.matcher(ESCAPED.matcher(line).replaceAll("_"));
		if (!matcher.matches()) {
			return UNREADABLE;
		}
		String bytes = matcher.group("bytes");
		return new Visit(bytes.equals("-") ? 0 : Long.parseLong(bytes), matcher.group("time"));
	}

	static Instant instantOf(String time) {
		try {
			return TIME.parse(time, Instant::from);
		}
		catch (DateTimeException ex) {
			return Instant.MIN;
		}
	}

}
