package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The translated README has the same code, the same links, the same figures and the same
 * structure, so it is changed with the original.
 */
class TranslatedReadmeTests {

	private static final Pattern BLOCK = Pattern.compile("```.*?```", Pattern.DOTALL);

	private static final Pattern CODE = Pattern.compile("`[^`\n]+`");

	private static final Pattern LINK = Pattern.compile("]\\((?!README)([^)]+)\\)");

	private static final Pattern NUMBER = Pattern.compile("\\d+(?:[.,]\\d+)*");

	/** What a line is: a heading, a row or an item. */
	private static final Pattern STRUCTURE = Pattern.compile("(?m)^(#+ |\\||- )");

	private final String original = read("README.md");

	private final String translated = read("README.zh-CN.md");

	@Test
	void codeIsTheSame() {
		assertThat(found(BLOCK, this.translated)).isEqualTo(found(BLOCK, this.original)).isNotEmpty();
		assertThat(found(CODE, text(this.translated))).hasSameElementsAs(found(CODE, text(this.original)));
	}

	@Test
	void linksAreTheSame() {
		assertThat(found(LINK, this.translated)).isEqualTo(found(LINK, this.original)).hasSizeGreaterThan(20);
	}

	@Test
	void figuresAreTheSame() {
		assertThat(found(NUMBER, text(this.translated)))
			.containsExactlyInAnyOrderElementsOf(found(NUMBER, text(this.original)));
	}

	@Test
	void structureIsTheSame() {
		assertThat(found(STRUCTURE, text(this.translated))).isEqualTo(found(STRUCTURE, text(this.original)));
	}

	@Test
	void eachLeadsToTheOther() {
		assertThat(this.original).contains("](README.zh-CN.md)");
		assertThat(this.translated).contains("](README.md)");
	}

	private static String text(String page) {
		return BLOCK.matcher(page).replaceAll("");
	}

	private static List<String> found(Pattern pattern, String page) {
		return pattern.matcher(page).results().map(MatchResult::group).toList();
	}

	private static String read(String page) {
		try {
			return Files.readString(Path.of("..", page));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
