package io.github.shardkeeper.autoconfigure.store;

import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** An application with a second Redis, as a rule a cache. */
@ExtendWith(OutputCaptureExtension.class)
class RedisConnectionFactoriesTests {

	private static EmbeddedRedis cache;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, DataRedisAutoConfiguration.class,
				JacksonAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=factories", "shardkeeper.key-prefix=factories",
				"shardkeeper.topics.orders.shards=1", "spring.data.redis.port=" + EmbeddedRedis.shared().port());

	@BeforeAll
	static void startCache() {
		cache = EmbeddedRedis.start("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru");
	}

	@AfterAll
	static void stopCache() {
		cache.close();
	}

	@Test
	void severalWithoutDefaultAreNamed() {
		this.runner.withUserConfiguration(Cache.class, Another.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(ShardkeeperConfigurationException.class, (failure) -> {
					assertThat(failure).hasMessageContaining("'cacheRedis', 'anotherRedis'");
					assertThat(failure.getAction()).contains("@Bean(defaultCandidate = false)", "@Primary", "evicts");
				}));
	}

	@Test
	void withoutAnyTheWayToOneIsNamed() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(ShardkeeperAutoConfiguration.class, JacksonAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=factories")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(ShardkeeperConfigurationException.class, (failure) -> {
					assertThat(failure).hasMessageContaining("there is none");
					assertThat(failure.getAction()).contains("spring.data.redis.*");
				}));
	}

	@Test
	void cacheThatIsNoDefaultCandidateLeavesTheOtherOne(CapturedOutput output) {
		this.runner.withUserConfiguration(CacheBeside.class).run((context) -> {
			context.getBean(ShardTemplate.class).send("orders", "key", "payload");

			assertThat(keys(EmbeddedRedis.shared())).isNotEmpty();
			assertThat(keys(cache)).isEmpty();
			assertThat(output.getOut()).contains("uses the Redis of the bean 'redisConnectionFactory'")
				.doesNotContain("evicts");
		});
	}

	@Test
	void cacheThatIsPrimaryIsUsedWithAWarning(CapturedOutput output) {
		this.runner.withUserConfiguration(PrimaryCache.class, Another.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output.getOut()).contains("uses the Redis of the bean 'primaryRedis'");
			await().until(() -> output.getOut().contains("Redis evicts any key of Shardkeeper"));
		});
	}

	private static List<String> keys(EmbeddedRedis redis) {
		return redis.call((commands) -> commands.keys("factories:*"));
	}

	private static LettuceConnectionFactory toCache() {
		return new LettuceConnectionFactory("127.0.0.1", cache.port());
	}

	@Configuration(proxyBeanMethods = false)
	static class Cache {

		@Bean
		LettuceConnectionFactory cacheRedis() {
			return toCache();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Another {

		@Bean
		LettuceConnectionFactory anotherRedis() {
			return toCache();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryCache {

		@Bean
		@Primary
		LettuceConnectionFactory primaryRedis() {
			return toCache();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class CacheBeside {

		@Bean(defaultCandidate = false)
		LettuceConnectionFactory cacheRedis() {
			return toCache();
		}

	}

}
