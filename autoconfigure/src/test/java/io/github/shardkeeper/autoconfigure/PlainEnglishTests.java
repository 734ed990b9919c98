package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pages use one word for one thing, and the usual one. Code, quoted texts in backticks
 * and addresses are not looked at, nor what is generated from texts of the code.
 */
class PlainEnglishTests {

	private static final Path PROJECT = Path.of("..");

	private static final Path GENERATED = Path.of("reference", "properties.md");

	/** Words that are not to be used, and what to write instead. */
	private static final Map<Pattern, String> INSTEAD = instead();

	/** Any of them, because most lines have none. */
	private static final Pattern ANY = Pattern.compile(
			INSTEAD.keySet().stream().map(Pattern::pattern).collect(Collectors.joining("|")), Pattern.CASE_INSENSITIVE);

	private static final Pattern BLOCK = Pattern.compile("```.*?```|<!--.*?-->", Pattern.DOTALL);

	private static final Pattern QUOTED = Pattern.compile("`[^`]*`|]\\([^)]*\\)|<[^>\n]*>");

	private static Map<Pattern, String> instead() {
		Map<String, String> words = new LinkedHashMap<>();
		words.put("acts?|acting|acted", "action or operation; operate");
		words.put("told|tells?", "notified, shows, says, distinguishes");
		words.put("asks?|asked|asking", "request, check, require");
		words.put("answers?|answering", "reply");
		words.put("refus\\w*", "reject");
		words.put("(?:Redis|Kafka|SLS|store|database|service|brokers?) (?:is|are|was|were) away", "unavailable");
		words.put("beside", "with, next to, in addition to");
		words.put("in turn|takes? turns", "alternately, one after the other");
		words.put("puts? aside", "set aside");
		words.put("under way", "in progress, in flight");
		words.put("mend\\w*", "fix");
		words.put("go(?:es)? on", "continue, resume");
		words.put("anew", "again; rejoin, resubscribe");
		words.put("hears?|heard of|news", "receive, notice; changes, notification");
		words.put("for ever", "permanently, forever");
		words.put("leadership (?:number|count)", "epoch, term");
		words.put("fencing (?:number|counter)", "fencing token");
		words.put("time-outs?", "timeout");
		words.put("acknowledgements?", "acknowledgment, as in the API");
		words.put("farewell|stint|pupil|befalls?|distrusted|doubted|stand-in", "the field's term");
		Map<Pattern, String> patterns = new LinkedHashMap<>();
		words.forEach((word, usual) -> patterns
			.put(Pattern.compile("(?<![\\w-])(?:" + word + ")(?![\\w-])", Pattern.CASE_INSENSITIVE), usual));
		return patterns;
	}

	@Test
	void pagesUseTheUsualWords() throws IOException {
		List<String> found = new ArrayList<>();
		for (Path page : pages()) {
			List<String> lines = withoutCode(Files.readString(page)).lines().toList();
			for (int i = 0; i < lines.size(); i++) {
				if (ANY.matcher(lines.get(i)).find()) {
					find(page + ":" + (i + 1), lines.get(i), found);
				}
			}
		}

		assertThat(found).isEmpty();
	}

	@Test
	void quotedTextsKeepTheirWords() {
		List<String> found = new ArrayList<>();
		find("page:1", withoutCode("It asks. `Redis refused it`, [told](acts.md)\n```\nacts\n```\n"), found);

		assertThat(found).containsExactly("page:1: 'asks': write request, check, require",
				"page:1: 'told': write notified, shows, says, distinguishes");
	}

	private static void find(String place, String text, List<String> found) {
		INSTEAD.forEach((word, usual) -> word.matcher(text)
			.results()
			.forEach((result) -> found.add("%s: '%s': write %s".formatted(place, result.group(), usual))));
		found.sort(null);
	}

	/** Keeps the lines, so that their numbers are those of the page. */
	private static String withoutCode(String page) {
		String text = BLOCK.matcher(page).replaceAll((block) -> block.group().replaceAll("[^\n]", ""));
		return QUOTED.matcher(text).replaceAll((quoted) -> quoted.group().replaceAll("[^\n]", ""));
	}

	private static List<Path> pages() throws IOException {
		List<Path> pages = new ArrayList<>(List.of(PROJECT.resolve("README.md"), PROJECT.resolve("CONTRIBUTING.md")));
		try (Stream<Path> files = Files.walk(PROJECT.resolve("docs"))) {
			files.filter((file) -> file.toString().endsWith(".md") && !file.endsWith(GENERATED)).forEach(pages::add);
		}
		assertThat(pages).hasSizeGreaterThan(20);
		return pages;
	}

}
