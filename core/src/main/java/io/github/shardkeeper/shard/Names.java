package io.github.shardkeeper.shard;

import java.util.Objects;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.text.PrintableText;

/**
 * The rule for names of groups, topics, shards and instances. They become parts of Redis
 * keys, where braces would move a key to another slot, and of text for people.
 */
@Internal
public final class Names {

	/** Text of the rule, for error messages. */
	public static final String RULE = "Use 1 to 100 letters, digits, dots, dashes or underscores, "
			+ "beginning with a letter or digit, for example 'page-visits'.";

	private static final int LONGEST_QUOTATION = 200;

	private static final int LONGEST = 100;

	private Names() {
	}

	/**
	 * {@return whether a name follows the rule}
	 * @param name the name
	 */
	public static boolean isValid(String name) {
		Objects.requireNonNull(name, "name must not be null");
		if (name.isEmpty() || name.length() > LONGEST || !isLetterOrDigit(name.charAt(0))) {
			return false;
		}
		// A leader checks some names for each shard, so without a regular expression.
		for (int i = 1; i < name.length(); i++) {
			char character = name.charAt(i);
			if (!isLetterOrDigit(character) && character != '.' && character != '_' && character != '-') {
				return false;
			}
		}
		return true;
	}

	private static boolean isLetterOrDigit(char character) {
		return character >= 'a' && character <= 'z' || character >= 'A' && character <= 'Z'
				|| character >= '0' && character <= '9';
	}

	/**
	 * Checks a name.
	 * @param name the name
	 * @param where the property or annotation that contains it
	 * @return the name
	 * @throws ShardkeeperConfigurationException when it breaks the rule
	 */
	public static String requireValid(String name, String where) {
		Objects.requireNonNull(name, "name must not be null");
		Objects.requireNonNull(where, "where must not be null");
		if (!isValid(name)) {
			throw new ShardkeeperConfigurationException(
					"The name '%s' in %s is not valid.".formatted(PrintableText.quoted(name, LONGEST_QUOTATION), where),
					RULE + ((name.contains("${") || name.contains("#{"))
							? " Placeholders and expressions (SpEL) are not resolved here." : ""));
		}
		return name;
	}

}
