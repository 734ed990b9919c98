package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pages name only tests and types that exist.
 */
class DocumentedNamesTests {

	private static final Path PROJECT = Path.of("..");

	private static final Path DOCS = PROJECT.resolve("docs");

	private static final Pattern TYPE = Pattern
		.compile("(?m)^\\s*[a-z\\s-]*(?:class|interface|record|enum|@interface) ([A-Z]\\w*)");

	private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");

	/** A type, if in camel case, and perhaps one of its members. */
	private static final Pattern TYPE_NAME = Pattern
		.compile("@?((?:[A-Z]\\w*\\.)*[A-Z]\\w*[a-z]\\w*)(?:\\.([a-z]\\w*)(?:\\(.*\\))?)?");

	/** A test, or another one of the class named last. */
	private static final Pattern TEST_NAME = Pattern.compile("([A-Z]\\w*(?:Tests|Stories|Contract))?\\.([a-z]\\w*)");

	/** Source text of the file that declares a type, by the type's simple name. */
	private static final Map<String, String> SOURCES = sources();

	@Test
	void everyTestThatThePagesNameExists() throws IOException {
		TreeSet<String> missing = new TreeSet<>();
		for (Path page : pages(DOCS)) {
			String test = "";
			Matcher code = CODE.matcher(Files.readString(page));
			while (code.find()) {
				Matcher name = TEST_NAME.matcher(code.group(1));
				if (code.group(1).matches("\\w+(Tests|Stories|Contract)")) {
					test = code.group(1);
					if (!SOURCES.containsKey(test)) {
						missing.add(page + ": " + test);
					}
				}
				else if (name.matches() && (name.group(1) != null || SOURCES.containsKey(test))) {
					test = (name.group(1) != null) ? name.group(1) : test;
					if (!SOURCES.getOrDefault(test, "").contains("void " + name.group(2) + "(")) {
						missing.add(page + ": " + test + "." + name.group(2));
					}
				}
			}
		}

		assertThat(missing).isEmpty();
	}

	@Test
	void everyTypeThatTheInternalsNameExists() throws IOException {
		TreeSet<String> missing = new TreeSet<>();
		for (Path page : pages(DOCS.resolve("internals"))) {
			Matcher code = CODE.matcher(Files.readString(page));
			while (code.find()) {
				Matcher name = TYPE_NAME.matcher(code.group(1));
				if (name.matches() && !isDeclared(name.group(1), name.group(2))) {
					missing.add(page + ": " + code.group(1));
				}
			}
		}

		assertThat(missing).isEmpty();
	}

	/** So that a reader can follow. */
	@Test
	void eachJourneyNamesAtMostTenTypes() throws IOException {
		Pattern section = Pattern.compile("\n## (How a \\w+ travels)\n(.*?)(?=\n## )", Pattern.DOTALL);
		List<MatchResult> journeys = section.matcher(Files.readString(DOCS.resolve("internals/architecture.md")))
			.results()
			.toList();

		assertThat(journeys).hasSize(3);
		for (MatchResult journey : journeys) {
			assertThat(SOURCES.keySet()).as(journey.group(1))
				.filteredOn((type) -> journey.group(2).contains("`" + type + "`"))
				.hasSizeLessThanOrEqualTo(10);
		}
	}

	private static boolean isDeclared(String type, String member) {
		String source = SOURCES.get(type.substring(type.lastIndexOf('.') + 1));
		return source != null && (member == null || source.contains(" " + member));
	}

	private static List<Path> pages(Path directory) throws IOException {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter((file) -> file.toString().endsWith(".md")).toList();
		}
	}

	private static Map<String, String> sources() {
		Map<String, String> sources = new HashMap<>();
		try (Stream<Path> modules = Files.list(PROJECT)) {
			for (Path module : modules.filter((module) -> Files.isDirectory(module.resolve("src"))).toList()) {
				readSources(module.resolve("src"), sources);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return sources;
	}

	private static void readSources(Path directory, Map<String, String> sources) throws IOException {
		try (Stream<Path> files = Files.walk(directory)) {
			for (Path file : files.filter((path) -> path.toString().endsWith(".java")).toList()) {
				String source = Files.readString(file);
				TYPE.matcher(source).results().forEach((type) -> sources.merge(type.group(1), source, String::concat));
			}
		}
	}

}
