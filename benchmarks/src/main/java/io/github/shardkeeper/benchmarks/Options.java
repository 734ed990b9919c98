package io.github.shardkeeper.benchmarks;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Options of a benchmark, like {@code --rounds=5}, and other words. Unknown options are
 * refused, because a benchmark would run for minutes without them. Immutable.
 *
 * @param values the options by name
 * @param words the arguments that are no options
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
				throw new RefusedOptionException("Write the option's value behind it: " + argument + "=…");
			}
		}
		return new Options(values, Arrays.stream(arguments).filter((argument) -> !argument.startsWith("--")).toList());
	}

	/**
	 * Refuses unknown options, so that a misspelt one is not overlooked, and every other
	 * word.
	 * @param known the names of the known options
	 */
	public void requireOnly(Set<String> known) {
		requireKnown(known);
		if (!this.words.isEmpty()) {
			throw new RefusedOptionException("'" + this.words.get(0) + "' is no option: there are only "
					+ written(known) + ". Options begin with two hyphens and have a value behind an equals sign");
		}
	}

	/**
	 * Refuses unknown options, and words of another form.
	 * @param known the names of the known options
	 * @param form the form of the other words
	 * @param example such a word
	 */
	public void requireOnly(Set<String> known, Pattern form, String example) {
		requireKnown(known);
		for (String word : this.words) {
			if (!form.matcher(word).matches()) {
				throw new RefusedOptionException("'" + word + "' is not understood: write it like " + example);
			}
		}
	}

	private void requireKnown(Set<String> known) {
		for (String name : this.values.keySet()) {
			if (!known.contains(name)) {
				throw new RefusedOptionException("There is no option --" + name
						+ (known.isEmpty() ? ", nor any other" : ", only " + written(known)));
			}
		}
	}

	private static String written(Set<String> names) {
		return new TreeSet<>(names).stream().map((name) -> "--" + name + "=…").collect(Collectors.joining(", "));
	}

	/**
	 * Reads a whole number that is not negative.
	 * @param name the option's name
	 * @param ifAbsent the value without the option
	 * @return the number
	 */
	public int number(String name, int ifAbsent) {
		return number(name, ifAbsent, 0);
	}

	/**
	 * Reads a whole number.
	 * @param name the option's name
	 * @param ifAbsent the value without the option
	 * @param least the minimum
	 * @return the number
	 */
	public int number(String name, int ifAbsent, int least) {
		String value = this.values.get(name);
		return (value != null) ? number(name, value, String.valueOf(ifAbsent), least) : ifAbsent;
	}

	/**
	 * Reads a list of whole numbers, separated by commas.
	 * @param name the option's name
	 * @param ifAbsent the values without the option
	 * @param least the minimum
	 * @return the numbers
	 */
	public List<Integer> numbers(String name, List<Integer> ifAbsent, int least) {
		String example = ifAbsent.stream().map(String::valueOf).collect(Collectors.joining(","));
		return this.values.containsKey(name)
				? list(name, List.of()).stream().map((value) -> number(name, value, example, least)).toList()
				: ifAbsent;
	}

	private static int number(String name, String value, String example, int least) {
		try {
			int number = Integer.parseInt(value);
			if (number >= least) {
				return number;
			}
		}
		catch (NumberFormatException ex) {
			// Refused like one that is too small.
		}
		throw new RefusedOptionException("--%s takes whole numbers from %d to %d, not '%s': write, for example, --%s=%s"
			.formatted(name, least, Integer.MAX_VALUE, value, name, example));
	}

	/**
	 * Reads a list of words, separated by commas.
	 * @param name the option's name
	 * @param ifAbsent the value without the option
	 * @return the words
	 */
	public List<String> list(String name, List<String> ifAbsent) {
		String value = this.values.get(name);
		if (value == null) {
			return ifAbsent;
		}
		List<String> words = Arrays.stream(value.split("[,;]", -1)).map(String::strip).toList();
		if (words.contains("")) {
			throw new RefusedOptionException("--" + name + "=" + value
					+ " has nothing where a value belongs: write values with one comma between two");
		}
		return words;
	}

	/**
	 * Reads one of some words.
	 * @param name the option's name
	 * @param known the known words
	 * @param ifAbsent the word without the option
	 * @return the word, as it is known
	 */
	public String choice(String name, Collection<String> known, String ifAbsent) {
		String value = this.values.get(name);
		return (value != null) ? known(name, value.strip(), known) : ifAbsent;
	}

	/**
	 * Reads a list of words of which all are known.
	 * @param name the option's name
	 * @param known the known words
	 * @param ifAbsent the words without the option
	 * @return the words, as they are known
	 */
	public List<String> choices(String name, Collection<String> known, List<String> ifAbsent) {
		return list(name, ifAbsent).stream().map((value) -> known(name, value, known)).toList();
	}

	private static String known(String name, String value, Collection<String> known) {
		return known.stream()
			.filter((word) -> word.equalsIgnoreCase(value))
			.findFirst()
			.orElseThrow(() -> unknown(name, value, String.join(", ", known)));
	}

	/**
	 * Chooses by parts of names.
	 * @param <T> the type of the items
	 * @param name the option's name
	 * @param all the items, which are all chosen without the option
	 * @param named returns the name of an item
	 * @return the items whose name contains one of the option's words, in the same order
	 */
	public <T> List<T> matching(String name, Collection<T> all, Function<T, String> named) {
		if (!this.values.containsKey(name)) {
			return List.copyOf(all);
		}
		List<String> parts = list(name, List.of());
		for (String part : parts) {
			if (all.stream().noneMatch((each) -> named.apply(each).contains(part))) {
				throw unknown(name, part, all.stream().map(named).collect(Collectors.joining("; ")));
			}
		}
		return all.stream().filter((each) -> parts.stream().anyMatch(named.apply(each)::contains)).toList();
	}

	private static RefusedOptionException unknown(String name, String value, String known) {
		return new RefusedOptionException("--" + name + " knows no '" + value + "', only " + known);
	}

}
