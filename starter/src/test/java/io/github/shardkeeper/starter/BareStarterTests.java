package io.github.shardkeeper.starter;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.util.ClassUtils;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.BeanTypes;

import static org.assertj.core.api.Assertions.assertThat;

/** An application whose only dependency is the starter. */
class BareStarterTests {

	@Test
	void nothingElseIsOnTheClassPath() {
		for (String name : Set.of("io.github.shardkeeper.cluster.ClusterLocks",
				"org.springframework.web.servlet.DispatcherServlet",
				"org.springframework.boot.actuate.endpoint.annotation.Endpoint",
				"org.springframework.boot.health.contributor.HealthIndicator", "jakarta.validation.Validator",
				"org.springframework.jdbc.core.JdbcTemplate")) {
			assertThat(ClassUtils.isPresent(name, null)).as(name).isFalse();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "memory" })
	void noBeanHasATypeThatOthersLookFor(String store) {
		try (ConfigurableApplicationContext context = start("--shardkeeper.store=" + store)) {
			Map<String, Set<String>> foreign = new TreeMap<>();
			Map<String, Class<?>> ours = BeanTypes.ours(context.getBeanFactory());
			ours.forEach((name, type) -> foreign.put(name, BeanTypes.foreign(type)));
			foreign.values().removeIf(Set::isEmpty);

			assertThat(ours).hasSizeGreaterThan(30);
			assertThat(foreign).isEmpty();
		}
	}

	@Test
	void asynchronousMethodsRunOnTheExecutorOfSpringBoot() throws Exception {
		try (ConfigurableApplicationContext context = start("--spring.task.execution.thread-name-prefix=mine-")) {
			assertThat(context.getBeanNamesForType(Executor.class)).containsExactly("applicationTaskExecutor");
			assertThat(context.getBean(Jobs.class).threadName().get(20, TimeUnit.SECONDS)).startsWith("mine-");
		}
	}

	@Test
	void handlersAreCalled() throws Exception {
		try (ConfigurableApplicationContext context = start()) {
			context.getBean(ShardTemplate.class).send("orders", "ann", "hello");

			assertThat(context.getBean(Orders.class).received.get(20, TimeUnit.SECONDS)).isEqualTo("hello");
		}
	}

	private static ConfigurableApplicationContext start(String... arguments) {
		return new SpringApplicationBuilder(Application.class).registerShutdownHook(false)
			.properties("spring.main.banner-mode=off", "shardkeeper.group=orders", "shardkeeper.topics.orders.shards=1",
					"shardkeeper.redis.trust-empty=true", "shardkeeper.key-prefix=bare-" + UUID.randomUUID(),
					"spring.data.redis.port=" + EmbeddedRedis.shared().port())
			.run(arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableAsync
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

	static class Jobs {

		@Async
		CompletableFuture<String> threadName() {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

	}

	static class Orders {

		private final CompletableFuture<String> received = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String order) {
			this.received.complete(order);
		}

	}

}
