package io.github.shardkeeper.autoconfigure.store;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.lettuce.core.ClientOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.client.RedisClientOptionsCustomizer;
import io.github.shardkeeper.autoconfigure.client.ShardkeeperRedis;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

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
					assertThat(failure.getAction()).contains("@ShardkeeperRedis", "@Bean(defaultCandidate = false)",
							"@Primary", "evicts");
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
			assertThat(output.getOut()).contains("uses the Redis of the bean 'redisConnectionFactory")
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

	@Test
	void qualifiedOneIsUsedAndLeavesSpringBootsToTheApplication() {
		this.runner.withUserConfiguration(Qualified.class)
			.withPropertyValues("spring.data.redis.port=" + cache.port())
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", "payload");

				assertThat(keys(EmbeddedRedis.shared())).isNotEmpty();
				assertThat(keys(cache)).isEmpty();
				assertThat(context.getBean(LettuceConnectionFactory.class).getPort()).isEqualTo(cache.port());
			});
	}

	/** As Jedis' or Redisson's, for which Spring Boot creates none of Lettuce. */
	@Test
	void qualifiedOneIsUsedBesideAnotherClientOfTheApplication() {
		this.runner.withUserConfiguration(OtherClient.class, Qualified.class).run((context) -> {
			context.getBean(ShardTemplate.class).send("orders", "key", "payload");

			assertThat(context.getBean(RedisConnectionFactory.class)).isNotInstanceOf(LettuceConnectionFactory.class);
		});
		this.runner.withUserConfiguration(OtherClient.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(ShardkeeperConfigurationException.class,
						(failure) -> assertThat(failure.getAction()).contains("@ShardkeeperRedis",
								"@Bean(defaultCandidate = false)")));
	}

	@Test
	void severalQualifiedOnesAreRefused() {
		this.runner.withUserConfiguration(Qualified.class, QualifiedToo.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(ShardkeeperConfigurationException.class)
				.hasMessageContaining("2 RedisConnectionFactory beans have @ShardkeeperRedis"));
	}

	/** As of a container with {@code @ServiceConnection}. */
	@Test
	void connectionDetailsReplaceTheProperties() {
		this.runner.withPropertyValues("spring.data.redis.port=" + cache.port())
			.withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {

				@Override
				public Standalone getStandalone() {
					return Standalone.of("127.0.0.1", EmbeddedRedis.shared().port());
				}

			})
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", "payload");

				assertThat(keys(cache)).isEmpty();
			});
	}

	@Test
	void customizersOfClientOptionsAreCalledInTheirOrder() {
		List<Integer> sizes = new CopyOnWriteArrayList<>();
		this.runner.withBean("second", RedisClientOptionsCustomizer.class, () -> ordered(2, sizes))
			.withBean("first", RedisClientOptionsCustomizer.class, () -> ordered(1, sizes))
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", "payload");

				assertThat(sizes).startsWith(1, 2);
				assertThat(context.getBean(LettuceConnectionFactory.class)
					.getRequiredNativeClient()
					.getOptions()
					.getRequestQueueSize()).isGreaterThan(10_000);
			});
	}

	private static RedisClientOptionsCustomizer ordered(int order, List<Integer> called) {
		class Ordering implements RedisClientOptionsCustomizer, Ordered {

			@Override
			public void customize(ClientOptions.Builder options) {
				called.add(order);
				options.requestQueueSize(10_000 + order);
			}

			@Override
			public int getOrder() {
				return order;
			}

		}
		return new Ordering();
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
	static class Qualified {

		@Bean(defaultCandidate = false)
		@ShardkeeperRedis
		LettuceConnectionFactory shardsRedis() {
			return new LettuceConnectionFactory("127.0.0.1", EmbeddedRedis.shared().port());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class QualifiedToo {

		@Bean(defaultCandidate = false)
		@ShardkeeperRedis
		LettuceConnectionFactory shardsRedisToo() {
			return toCache();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherClient {

		@Bean
		RedisConnectionFactory otherRedis() {
			return mock(RedisConnectionFactory.class);
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
