package io.github.shardkeeper.jdbc;

import java.io.IOException;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

class JdbcRuntimeHintsTests {

	private static final String ROOT = "io/github/shardkeeper/jdbc/";

	@Test
	void imageContainsEveryScript() throws IOException {
		RuntimeHints hints = new RuntimeHints();
		new JdbcRuntimeHints().registerHints(hints, getClass().getClassLoader());
		Resource[] scripts = new PathMatchingResourcePatternResolver().getResources("classpath*:" + ROOT + "*.sql");

		assertThat(scripts).hasSizeGreaterThan(5);
		for (Resource script : scripts) {
			String url = script.getURL().toString();
			assertThat(RuntimeHintsPredicates.resource().forResource(url.substring(url.lastIndexOf(ROOT)))).as(url)
				.accepts(hints);
		}
	}

}
