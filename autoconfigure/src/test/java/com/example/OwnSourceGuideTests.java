package com.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The guide shows the source and its tests as they are here.
 */
class OwnSourceGuideTests {

	private static final Path HERE = Path.of("src", "test", "java", "com", "example");

	@Test
	void guideShowsTheSourceInUnder80Lines() throws IOException {
		String source = Files.readString(HERE.resolve("DirectorySource.java"));
		String shown = block("public final class DirectorySource");

		assertThat(source).endsWith("\n" + shown);
		assertThat(shown.lines().filter((line) -> !line.isBlank())).hasSizeBetween(40, 79);
	}

	@Test
	void guideShowsTheTests() throws IOException {
		String tests = Files.readString(HERE.resolve("DirectorySourceTests.java"));
		String shown = block("class DirectorySourceTests");
		String members = shown.substring(shown.indexOf("\t@TempDir"), shown.lastIndexOf('}'));

		assertThat(members).contains("createSource", "abilities", "appender", "@Test");
		assertThat(tests).contains(members.strip());
	}

	private static String block(String part) throws IOException {
		List<String> blocks = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("..", "docs", "guides", "own-source.md")))
			.results()
			.map((block) -> block.group(1))
			.filter((block) -> block.contains(part))
			.toList();
		assertThat(blocks).as(part).hasSize(1);
		return blocks.get(0);
	}

}
