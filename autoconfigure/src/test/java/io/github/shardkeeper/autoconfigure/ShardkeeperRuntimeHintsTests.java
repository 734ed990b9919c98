package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A native image contains the scripts and the files of the dashboard.
 */
class ShardkeeperRuntimeHintsTests {

	private static final String ROOT = "io/github/shardkeeper/";

	@Test
	void everyScriptOnTheClassPathIsAHintedResource() throws IOException {
		RuntimeHints hints = new RuntimeHints();
		new ShardkeeperRuntimeHints().registerHints(hints, getClass().getClassLoader());
		Resource[] scripts = new PathMatchingResourcePatternResolver().getResources("classpath*:" + ROOT + "**/*.lua");

		assertThat(Stream.of(scripts).map(ShardkeeperRuntimeHintsTests::path)).contains(ROOT + "redis/prelude.lua")
			.allMatch((path) -> RuntimeHintsPredicates.resource().forResource(path).test(hints));
	}

	@Test
	void everyFileOfTheDashboardIsAHintedResource() throws IOException {
		RuntimeHints hints = new RuntimeHints();
		new ShardkeeperRuntimeHints().registerHints(hints, getClass().getClassLoader());
		Resource[] files = new PathMatchingResourcePatternResolver()
			.getResources("classpath*:" + ROOT + "dashboard/*.*");

		assertThat(Stream.of(files).map(ShardkeeperRuntimeHintsTests::path).filter((path) -> !path.endsWith(".class")))
			.contains(ROOT + "dashboard/dashboard.html", ROOT + "dashboard/model.js")
			.allMatch((path) -> RuntimeHintsPredicates.resource().forResource(path).test(hints));
	}

	private static String path(Resource script) {
		try {
			String url = script.getURL().toString();
			return url.substring(url.lastIndexOf(ROOT));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
