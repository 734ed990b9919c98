package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each promise of the README has tests, and a page lists them.
 */
class PromisesTests {

	private static final Path PROJECT = Path.of("..");

	private static final String UPDATE = "shardkeeper.docs.update";

	private static final String INTRODUCTION = """
			# Promises and their tests

			<!-- Generated from @Promise in the tests. Do not edit: PromisesTests says how to update. -->

			The tests of each promise of the [README](../../README.md), which fail without what keeps it. A class stands for
			all of its tests. `…Stories` and `…Contract` run against every store or source.
			[Testing](testing.md#not-covered) says what has no test.
			""";

	/** In place of the methods of a class that is marked itself. */
	private static final String ALL = "";

	private static final Pattern NAME = Pattern.compile("\"([^\"]+)\"");

	/** An annotation, and the class or method that it marks. */
	private static final Pattern ANNOTATED = Pattern
		.compile("@Promise\\(([^)]*)\\)\\s+(?:@[^\\n]*\\s+)*[a-z ]*?(?:(?:class|interface) (\\w+)|void (\\w+)\\()");

	@Test
	void pageListsTheTestsOfEachPromise() throws IOException {
		Path page = PROJECT.resolve("docs/internals/promises.md");
		String expected = render(tests());
		if (Boolean.getBoolean(UPDATE)) {
			Files.writeString(page, expected);
		}

		assertThat(page)
			.as("Update the page: mvn -pl autoconfigure -am test -Dtest=%s -D%s=true "
					+ "-Dsurefire.failIfNoSpecifiedTests=false", getClass().getSimpleName(), UPDATE)
			.content()
			.isEqualTo(expected);
	}

	@Test
	void everyPromiseHasTests() throws IOException {
		assertThat(tests()).allSatisfy((promise, tests) -> assertThat(tests).as(promise).isNotEmpty());
	}

	/**
	 * Returns the methods by class, by promise in the README's order.
	 */
	private static Map<String, Map<String, TreeSet<String>>> tests() throws IOException {
		Map<String, Map<String, TreeSet<String>>> tests = new LinkedHashMap<>();
		Pattern.compile("(?m)^\\| \\[([A-Z][^]]+)]\\(")
			.matcher(Files.readString(PROJECT.resolve("README.md")))
			.results()
			.forEach((row) -> tests.put(row.group(1), new TreeMap<>()));
		assertThat(tests).hasSizeGreaterThan(10);
		for (Path source : testSources()) {
			String type = source.getFileName().toString().replace(".java", "");
			for (MatchResult marked : ANNOTATED.matcher(Files.readString(source)).results().toList()) {
				for (String promise : names(marked.group(1))) {
					assertThat(tests).as(source.toString()).containsKey(promise);
					TreeSet<String> methods = tests.get(promise).computeIfAbsent(type, (name) -> new TreeSet<>());
					methods.add((marked.group(3) != null) ? marked.group(3) : ALL);
				}
			}
		}
		return tests;
	}

	private static String render(Map<String, Map<String, TreeSet<String>>> tests) {
		StringBuilder page = new StringBuilder(INTRODUCTION);
		tests.forEach((promise, types) -> {
			page.append("\n## ").append(promise).append("\n\n");
			List<String> whole = types.keySet().stream().filter((type) -> types.get(type).contains(ALL)).toList();
			if (!whole.isEmpty()) {
				page.append(whole.stream().collect(Collectors.joining("`, `", "- `", "`\n")));
			}
			types.forEach((type, methods) -> {
				if (!methods.contains(ALL)) {
					page.append("- `").append(type).append("`: ");
					page.append(methods.stream().collect(Collectors.joining("`, `.", "`.", "`\n")));
				}
			});
		});
		return page.toString();
	}

	private static List<String> names(String value) {
		Matcher name = NAME.matcher(value);
		return name.results().map((result) -> result.group(1)).toList();
	}

	private static List<Path> testSources() throws IOException {
		List<Path> sources = new ArrayList<>();
		try (Stream<Path> modules = Files.list(PROJECT)) {
			for (Path tests : modules.map((module) -> module.resolve("src/test/java"))
				.filter(Files::isDirectory)
				.toList()) {
				try (Stream<Path> files = Files.walk(tests)) {
					files.filter((file) -> file.toString().endsWith(".java")).forEach(sources::add);
				}
			}
		}
		assertThat(sources).isNotEmpty();
		return sources;
	}

}
