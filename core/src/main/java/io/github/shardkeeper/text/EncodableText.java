package io.github.shardkeeper.text;

/**
 * Text that UTF-8 can represent. Half of a surrogate pair becomes a question mark in
 * UTF-8, so that two different texts would become one in a store. Has no state.
 */
public final class EncodableText {

	private static final int MAX_LENGTH_SHOWN = 100;

	private EncodableText() {
	}

	/**
	 * Checks that UTF-8 can represent a text.
	 * @param what the text's role, at the beginning of a sentence
	 * @throws IllegalArgumentException if it cannot
	 */
	public static void require(String text, String what) {
		int at = indexOfHalf(text);
		if (at >= 0) {
			throw new IllegalArgumentException(
					"%s has half of a surrogate pair, \\u%04x at index %,d, which UTF-8 cannot represent: '%s'. Correct the text, or send bytes as Base64"
						.formatted(what, (int) text.charAt(at), at, PrintableText.quoted(text, MAX_LENGTH_SHOWN)));
		}
	}

	/** Returns the index of a surrogate without its other half, -1 for none. */
	private static int indexOfHalf(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (Character.isSurrogate(text.charAt(i))) {
				if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) {
					return i;
				}
				i++;
			}
		}
		return -1;
	}

}
