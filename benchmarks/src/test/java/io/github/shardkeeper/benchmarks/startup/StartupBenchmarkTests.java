package io.github.shardkeeper.benchmarks.startup;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every application starts, with no more than it is said to have.
 */
class StartupBenchmarkTests {

	@Test
	void eachApplicationStartsWithItsOwnClassPath(@TempDir Path directory) throws Exception {
		Path applications = StartupBenchmark.copy(directory);
		try (RedisProcess redis = RedisProcess.start(); RedisFigures figures = new RedisFigures(redis)) {
			Map<String, Double> empty = StartupBenchmark.once(Contender.EMPTY, applications, redis, figures);
			Map<String, Double> used = StartupBenchmark.once(Contender.REDIS_USED, applications, redis, figures);
			Map<String, Double> handler = StartupBenchmark.once(Contender.ONE_HANDLER, applications, redis, figures);
			Map<String, Double> web = StartupBenchmark.once(Contender.WEB, applications, redis, figures);
			Map<String, Double> webHandler = StartupBenchmark.once(Contender.WEB_HANDLER, applications, redis, figures);

			assertThat(empty).containsEntry("connections", 0.0);
			assertThat(used).containsEntry("connections", 1.0);
			assertThat(handler.get("connections")).isGreaterThan(1);
			assertThat(empty.get("classes")).isLessThan(used.get("classes"));
			assertThat(used.get("classes")).isLessThan(handler.get("classes"));
			assertThat(handler.get("classes")).isLessThan(web.get("classes"));
			assertThat(web.get("classes")).isLessThan(webHandler.get("classes"));
			assertThat(web).containsEntry("connections", 1.0);
		}
	}

	@Test
	void emptyApplicationHasNeitherRedisNorShardkeeper() {
		assertThat(Contender.EMPTY.classPath(Path.of("."))).noneMatch((entry) -> entry.contains("lettuce"))
			.noneMatch((entry) -> Path.of(entry).getFileName().toString().startsWith("shardkeeper"));
		assertThat(Contender.REDIS.classPath(Path.of("."))).anyMatch((entry) -> entry.contains("lettuce"))
			.noneMatch((entry) -> entry.contains("jackson"));
		assertThat(Contender.WEB.classPath(Path.of("."))).anyMatch((entry) -> entry.contains("tomcat"))
			.noneMatch((entry) -> entry.contains("shardkeeper-core"));
	}

}
