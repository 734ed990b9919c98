package io.github.shardkeeper.benchmarks.footprint;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.footprint.StartupBenchmark.Application;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications start with no more than they are said to have.
 */
class StartupBenchmarkTests {

	@Test
	void applicationsStartWithTheirOwnClassPath(@TempDir Path directory) throws Exception {
		StartupBenchmark.copy(directory);
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			Map<String, Double> web = StartupBenchmark.measure(Application.WEB, directory, redis);
			Map<String, Double> handler = StartupBenchmark.measure(Application.SHARDKEEPER_WEB, directory, redis);

			assertThat(web).containsEntry("connections", 1.0);
			assertThat(handler.get("connections")).isGreaterThan(1);
			assertThat(web.get("classes")).isLessThan(handler.get("classes"));
		}
	}

	@Test
	void classPathsHaveNothingElse() {
		assertThat(Application.REDIS.classPath(Path.of("."))).anyMatch((entry) -> entry.contains("lettuce"))
			.noneMatch((entry) -> entry.contains("jackson"))
			.noneMatch((entry) -> entry.contains("kafka"))
			.noneMatch((entry) -> entry.contains("target/classes"));
		assertThat(Application.SHARDKEEPER.classPath(Path.of("."))).noneMatch((entry) -> entry.contains("tomcat"))
			.noneMatch((entry) -> entry.contains("benchmarks/target"));
		assertThat(Application.WEB.classPath(Path.of("."))).anyMatch((entry) -> entry.contains("tomcat"))
			.noneMatch((entry) -> entry.contains("shardkeeper-core"));
	}

}
