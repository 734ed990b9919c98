package io.github.shardkeeper.text;

/**
 * Text without anything that could break a line, reorder it, or control a terminal. Names
 * and texts that others have written (keys, member ids, values in Redis, exceptions of
 * handlers) may contain all of that. Has no state.
 */
public final class PrintableText {

	private PrintableText() {
	}

	/** Returns a text with a space in place of each such character. */
	public static String of(String text) {
		return isPrintable(text) ? text : replaced(text);
	}

	/** Returns such a text of at most so many characters; a cut one ends with "…". */
	public static String of(String text, int most) {
		return of(shortened(text, most));
	}

	/** Returns at most so many characters of a text, and no half of a pair. */
	private static String shortened(String text, int most) {
		if (text.length() <= most) {
			return text;
		}
		int end = most - 1;
		return text.substring(0, (end > 0 && Character.isHighSurrogate(text.charAt(end - 1))) ? end - 1 : end) + "…";
	}

	/** Returns whether a text can be shown as it is. */
	static boolean isPrintable(String text) {
		return text.codePoints().noneMatch(PrintableText::isUnprintable);
	}

	private static String replaced(String text) {
		StringBuilder printable = new StringBuilder(text.length());
		text.codePoints().forEach((c) -> printable.appendCodePoint(isUnprintable(c) ? ' ' : c));
		return printable.toString();
	}

	/**
	 * Returns what somebody has sent or configured, with each such character as its
	 * number, so that he sees it; a longer one is cut and ends with "…".
	 */
	public static String quoted(String text, int most) {
		StringBuilder printable = new StringBuilder();
		shortened(text, most).codePoints().forEach((c) -> {
			if (isUnprintable(c)) {
				printable.append("\\u%04x".formatted(c));
			}
			else {
				printable.appendCodePoint(c);
			}
		});
		return printable.toString();
	}

	private static boolean isUnprintable(int c) {
		return switch (Character.getType(c)) {
			// Among them line breaks, the escape of terminals, and halves of pairs.
			case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE ->
				true;
			// Joiners within words are among the others.
			case Character.FORMAT -> switch (Character.getDirectionality(c)) {
				case Character.DIRECTIONALITY_BOUNDARY_NEUTRAL, Character.DIRECTIONALITY_UNDEFINED -> false;
				default -> true;
			};
			default -> false;
		};
	}

}
