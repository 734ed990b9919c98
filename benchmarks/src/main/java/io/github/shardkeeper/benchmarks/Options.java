package io.github.shardkeeper.benchmarks;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a benchmark was asked for: options like {@code --rounds=5}, and other words.
 * Immutable.
 *
 * @param values the options by name
 * @param words what is no option
 */
public record Options(Map<String, String> values, List<String> words) {

	/**
	 * Reads arguments.
	 * @param arguments the arguments
	 * @return the options
	 */
	public static Options parse(String... arguments) {
		Map<String, String> values = new LinkedHashMap<>();
		for (String argument : arguments) {
			int equals = argument.indexOf('=');
			if (argument.startsWith("--") && equals > 0) {
				values.put(argument.substring(2, equals), argument.substring(equals + 1));
			}
			else if (argument.startsWith("--")) {
				throw new IllegalArgumentException("Write the option's value behind it: " + argument + "=…");
			}
		}
		return new Options(values, Arrays.stream(arguments).filter((argument) -> !argument.startsWith("--")).toList());
	}

	/**
	 * Refuses options that nobody asks for, so that a misspelt one is not overlooked.
	 * @param known the names of those that there are
	 */
	public void requireOnly(Set<String> known) {
		for (String name : this.values.keySet()) {
			if (!known.contains(name)) {
				throw new IllegalArgumentException("There is no option --" + name + ", only " + known);
			}
		}
	}

	/**
	 * Reads a whole number.
	 * @param name the option's name
	 * @param ifAbsent what it is without the option
	 * @return the number
	 */
	public int number(String name, int ifAbsent) {
		String value = this.values.get(name);
		return (value != null) ? Integer.parseInt(value) : ifAbsent;
	}

	/**
	 * Reads a list of words, separated by commas.
	 * @param name the option's name
	 * @param ifAbsent what it is without the option
	 * @return the words
	 */
	public List<String> list(String name, List<String> ifAbsent) {
		String value = this.values.get(name);
		return (value != null) ? Arrays.stream(value.split("[,;]")).map(String::strip).toList() : ifAbsent;
	}

}
