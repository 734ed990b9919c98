package io.github.shardkeeper.dashboard;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

class DashboardRuntimeHintsTests {

	private static final String ROOT = "io/github/shardkeeper/dashboard/";

	@Test
	void imageContainsEveryFileOfThePage() throws IOException {
		RuntimeHints hints = new RuntimeHints();
		new DashboardRuntimeHints().registerHints(hints, getClass().getClassLoader());
		Resource[] files = new PathMatchingResourcePatternResolver().getResources("classpath*:" + ROOT + "*.*");

		List<String> pages = new ArrayList<>();
		for (Resource file : files) {
			String url = file.getURL().toString();
			if (!url.endsWith(".class")) {
				pages.add(url.substring(url.lastIndexOf(ROOT)));
			}
		}
		assertThat(pages).contains(ROOT + "dashboard.html", ROOT + "model.js")
			.allMatch((page) -> RuntimeHintsPredicates.resource().forResource(page).test(hints));
	}

}
