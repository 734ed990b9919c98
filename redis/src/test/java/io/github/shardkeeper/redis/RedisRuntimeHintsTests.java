package io.github.shardkeeper.redis;

import java.io.IOException;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class RedisRuntimeHintsTests {

	private static final String ROOT = "io/github/shardkeeper/redis/";

	private final RuntimeHints hints = new RuntimeHints();

	RedisRuntimeHintsTests() {
		new RedisRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
	}

	@Test
	void imageContainsEveryScript() throws IOException {
		Resource[] scripts = new PathMatchingResourcePatternResolver().getResources("classpath*:" + ROOT + "**/*.lua");

		assertThat(scripts).hasSizeGreaterThan(70);
		for (Resource script : scripts) {
			String url = script.getURL().toString();
			assertThat(RuntimeHintsPredicates.resource().forResource(url.substring(url.lastIndexOf(ROOT)))).as(url)
				.accepts(this.hints);
		}
	}

	@Test
	void configurationOfTheConnectionFactoryCanBeRead() {
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(LettuceConnectionFactory.class, "configuration"))
			.accepts(this.hints);
	}

}
