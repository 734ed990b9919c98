package io.github.shardkeeper.jdbc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Any text in a column of a database: PostgreSQL refuses the character 0, and Oracle
 * takes empty text for {@code null}. Such text begins with a backslash in the column; all
 * other text, JSON in particular, stays as it is. Has no state.
 */
final class StoredText {

	private StoredText() {
	}

	static String encode(String text) {
		if (!text.isEmpty() && text.charAt(0) != '\\' && text.indexOf('\0') < 0) {
			return text;
		}
		return "\\" + text.replace("\\", "\\\\").replace("\0", "\\0");
	}

	static String decode(String stored) {
		if (stored.isEmpty() || stored.charAt(0) != '\\') {
			return stored;
		}
		StringBuilder text = new StringBuilder(stored.length());
		for (int i = 1; i < stored.length(); i++) {
			char next = stored.charAt(i);
			if (next == '\\') {
				i++;
				next = (stored.charAt(i) == '0') ? '\0' : stored.charAt(i);
			}
			text.append(next);
		}
		return text.toString();
	}

	/**
	 * Returns a part of a primary key for text of any length: databases limit the length
	 * of keys, and differ in which texts they regard as the same.
	 */
	static String hash(String text) {
		try {
			return HexFormat.of()
				.formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
