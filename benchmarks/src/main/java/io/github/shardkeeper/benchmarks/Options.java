package io.github.shardkeeper.benchmarks;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
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
		for (String name : this.values.keySet()) {
			if (!known.contains(name)) {
				throw new RefusedOptionException("There is no option --" + name + ", only " + written(known));
			}
		}
		if (!this.words.isEmpty()) {
			throw new RefusedOptionException("'" + this.words.get(0) + "' is no option: there are only "
					+ written(known) + ". Options begin with two hyphens and have a value behind an equals sign");
		}
	}

	private static String written(Set<String> names) {
		return new TreeSet<>(names).stream().map((name) -> "--" + name + "=…").collect(Collectors.joining(", "));
	}

	/** Reads a whole number that is not negative. */
	public int number(String name, int ifAbsent) {
		return number(name, ifAbsent, 0);
	}

	/** Reads a whole number. */
	public int number(String name, int ifAbsent, int least) {
		String value = this.values.get(name);
		return (value != null) ? number(name, value, String.valueOf(ifAbsent), least) : ifAbsent;
	}

	/** Reads a list of whole numbers, separated by commas. */
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

	/** Reads a list of words, separated by commas. */
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
	 * @param known the known words
	 * @return the word, as it is known
	 */
	public String choice(String name, Collection<String> known, String ifAbsent) {
		String value = this.values.get(name);
		return (value != null) ? known(name, value.strip(), known) : ifAbsent;
	}

	/**
	 * Reads a list of words of which all are known.
	 * @param known the known words
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
	 * Chooses contenders by parts of their names.
	 * @param all the contenders, which are all chosen without the option
	 * @return those whose name contains one of the option's words, in the same order
	 */
	public <C extends Contender> List<C> matching(String name, List<C> all) {
		if (!this.values.containsKey(name)) {
			return all;
		}
		List<String> parts = list(name, List.of());
		for (String part : parts) {
			if (all.stream().noneMatch((each) -> each.text().contains(part))) {
				throw unknown(name, part, all.stream().map(Contender::text).collect(Collectors.joining("; ")));
			}
		}
		return all.stream().filter((each) -> parts.stream().anyMatch(each.text()::contains)).toList();
	}

	private static RefusedOptionException unknown(String name, String value, String known) {
		return new RefusedOptionException("--" + name + " knows no '" + value + "', only " + known);
	}

}
