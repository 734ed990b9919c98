package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Texts of log, health and failures that a page quotes for its readers to find are those
 * of the code.
 */
class QuotedTextsTests {

	private static final Path PROJECT = Path.of("..");

	private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]*) \\|");

	private static final Pattern QUOTED = Pattern.compile("`([^`]* [^`]*)`");

	private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

	/** What stands for something else, in texts of the code and on pages. */
	private static final Pattern VARIABLE = Pattern.compile("'[^']*'|%[sd,]+|\\{}|[\\d,.]*\\d|…");

	/** Too short to mean anything. */
	private static final int SHORT = 5;

	private static final String TEXTS = texts();

	@Test
	void operationsQuotesTextsOfTheCode() throws IOException {
		String page = Files.readString(PROJECT.resolve("docs/guides/operations.md"));
		String section = page.substring(page.indexOf("## In the first week\n"));
		List<String> quoted = ROW.matcher(section.substring(0, section.indexOf("\n## ", 1)))
			.results()
			.flatMap((row) -> QUOTED.matcher(row.group(1)).results())
			.map((found) -> found.group(1))
			.toList();

		assertThat(quoted).hasSizeGreaterThan(6);
		assertThat(quoted).flatExtracting(QuotedTextsTests::parts).allMatch(TEXTS::contains);
	}

	@Test
	void anotherTextIsFound() {
		assertThat(parts("Halted at offset …: the moon is full")).contains("Halted at offset")
			.filteredOn((part) -> !TEXTS.contains(part))
			.containsExactly(": the moon is full");
	}

	private static List<String> parts(String text) {
		return VARIABLE.splitAsStream(text).map(String::strip).filter((part) -> part.length() > SHORT).toList();
	}

	/** Returns all literals of the code, those that are joined as one. */
	private static String texts() {
		List<String> texts = new ArrayList<>();
		try (Stream<Path> modules = Files.list(PROJECT)) {
			for (Path sources : modules.map((module) -> module.resolve("src/main"))
				.filter(Files::isDirectory)
				.toList()) {
				try (Stream<Path> files = Files.walk(sources)) {
					for (Path file : files.filter((each) -> each.toString().matches(".*\\.(java|lua)")).toList()) {
						String joined = Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "");
						texts.add(LITERAL.matcher(joined)
							.results()
							.map((MatchResult literal) -> VARIABLE.matcher(literal.group(1)).replaceAll("…"))
							.collect(Collectors.joining("\n")));
					}
				}
			}
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		return String.join("\n", texts);
	}

}
