package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Links of the pages lead to a file, and to a heading in it.
 */
class PageLinksTests {

	private static final Path PROJECT = Path.of("..");

	private static final Pattern CODE = Pattern.compile("```.*?```", Pattern.DOTALL);

	private static final Pattern LINK = Pattern.compile("]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");

	private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

	private final Map<Path, Set<String>> headings = new HashMap<>();

	@Test
	void everyLinkLeadsToSomething() throws IOException {
		List<String> broken = new ArrayList<>();
		int links = 0;
		for (Path page : pages()) {
			for (var link : LINK.matcher(withoutCode(page)).results().toList()) {
				links++;
				Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1)).normalize();
				if (!Files.exists(target) || link.group(2) != null && !headings(target).contains(link.group(2))) {
					broken.add(page + ": " + link.group());
				}
			}
		}

		assertThat(broken).isEmpty();
		assertThat(links).isGreaterThan(300);
	}

	/** A page that is not listed is not found. */
	@Test
	void everyPageIsListed() throws IOException {
		Path list = PROJECT.resolve("docs/README.md");
		Set<Path> listed = new HashSet<>(Set.of(list.normalize()));
		LINK.matcher(withoutCode(list))
			.results()
			.forEach((link) -> listed.add(list.resolveSibling(link.group(1)).normalize()));

		assertThat(pages()).filteredOn((page) -> page.startsWith(PROJECT.resolve("docs")))
			.filteredOn((page) -> !page.getParent().endsWith("decisions"))
			.allMatch(listed::contains);
	}

	private Set<String> headings(Path page) throws IOException {
		Set<String> anchors = this.headings.get(page);
		if (anchors == null) {
			anchors = new HashSet<>();
			for (var heading : HEADING.matcher(withoutCode(page)).results().toList()) {
				String anchor = anchor(heading.group(1));
				for (int again = 1; !anchors.add(anchor); again++) {
					anchor = anchor(heading.group(1)) + "-" + again;
				}
			}
			this.headings.put(page, anchors);
		}
		return anchors;
	}

	/** Returns what GitHub makes of a heading. */
	private static String anchor(String heading) {
		return heading.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
			.toLowerCase(Locale.ROOT)
			.replaceAll("[^\\p{L}\\p{N}_ -]", "")
			.replace(' ', '-');
	}

	private static String withoutCode(Path page) throws IOException {
		return CODE.matcher(Files.readString(page)).replaceAll("");
	}

	private static List<Path> pages() throws IOException {
		List<Path> pages = new ArrayList<>();
		try (Stream<Path> top = Files.list(PROJECT); Stream<Path> docs = Files.walk(PROJECT.resolve("docs"))) {
			Stream.concat(top, docs)
				.filter((file) -> file.toString().endsWith(".md"))
				.map(Path::normalize)
				.forEach(pages::add);
		}
		return pages;
	}

}
