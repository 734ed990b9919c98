package io.github.shardkeeper.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;
import org.springframework.validation.annotation.Validated;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Starts applications on a class path without the optional dependencies.
 */
class WithoutOptionalDependenciesTests {

	@Test
	void optionalDependenciesAreAbsent() {
		for (String name : new String[] { "io.github.shardkeeper.cluster.ClusterLocks",
				"io.github.shardkeeper.redis.RedisConnector", "io.lettuce.core.RedisClient",
				"org.springframework.data.redis.connection.RedisConnectionFactory",
				"org.springframework.boot.actuate.endpoint.annotation.Endpoint",
				"org.springframework.boot.health.contributor.HealthIndicator",
				"io.micrometer.core.instrument.MeterRegistry", "org.springframework.messaging.Message",
				"jakarta.validation.Validator" }) {
			assertThat(ClassUtils.isPresent(name, null)).as(name).isFalse();
		}
	}

	@Test
	void consumesInMemory() throws Exception {
		try (ConfigurableApplicationContext context = start("--shardkeeper.store=memory")) {
			context.getBean(ShardTemplate.class).send("orders", "key", "hello");
			assertThat(context.getBean(Handler.class).received.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
		}
	}

	@Test
	void validatedPayloadFailsStartupWithDependencyToAdd() {
		assertThatThrownBy(() -> start(ValidatingHandler.class, "--shardkeeper.store=memory")).rootCause()
			.hasMessageContaining("ValidatingHandler.handle(String) has a parameter to be validated.")
			.hasMessageContaining("org.springframework:spring-messaging");
	}

	@Test
	void redisStoreFailsStartupWithDependencyToAdd() {
		assertThatThrownBy(() -> start()).hasRootCauseMessage(
				"'shardkeeper.store' is 'redis', but the Lettuce client is not on the class path. Add the dependency "
						+ "'org.springframework.boot:spring-boot-starter-data-redis', or set 'shardkeeper.store: memory' "
						+ "for a first look without Redis.");
	}

	@Test
	void sourceOfMissingModuleFailsStartupWithDependencyToAdd() {
		assertThatThrownBy(() -> start("--shardkeeper.store=memory", "--shardkeeper.topics.orders.source=sls"))
			.hasRootCauseMessage(
					"'shardkeeper.topics.orders.source' is 'sls', but 'shardkeeper-sls' is not on the class "
							+ "path. Add the dependency 'io.github.shardkeeper:shardkeeper-sls', or set another source.");
	}

	private static ConfigurableApplicationContext start(String... arguments) {
		return start(Handler.class, arguments);
	}

	private static ConfigurableApplicationContext start(Class<?> handler, String... arguments) {
		return new SpringApplicationBuilder(Application.class, handler).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.properties("shardkeeper.group=orders", "shardkeeper.topics.orders.shards=2", "spring.main.banner-mode=off")
			.run(arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	static class Handler {

		final CompletableFuture<String> received = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.received.complete(payload);
		}

	}

	static class ValidatingHandler {

		@ShardConsumer("orders")
		void handle(@Validated String payload) {
		}

	}

}
