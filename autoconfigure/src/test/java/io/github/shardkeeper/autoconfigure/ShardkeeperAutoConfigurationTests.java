package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.RecordTooLargeException;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ShardkeeperAutoConfigurationTests {

	private final ApplicationContextRunner redis = onRedis();

	private final ApplicationContextRunner memory = this.redis.withPropertyValues("shardkeeper.store=memory");

	/** Returns an application with two shards of a topic on the shared Redis. */
	static ApplicationContextRunner onRedis() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class,
					ShardkeeperActuatorAutoConfiguration.class, DataRedisAutoConfiguration.class,
					JacksonAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=orders", "shardkeeper.topics.orders.shards=2",
					"management.endpoints.web.exposure.include=shards",
					"spring.data.redis.port=" + EmbeddedRedis.shared().port());
	}

	@Test
	void wiresEverythingOnRedis() {
		this.redis.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(ShardCoordinator.class)
			.hasSingleBean(HeartbeatScheduler.class)
			.hasSingleBean(ShardConsumerRunner.class)
			.hasSingleBean(ShardTemplate.class)
			.hasSingleBean(ShardsEndpoint.class)
			.hasSingleBean(ShardkeeperHealthIndicator.class)
			.hasSingleBean(RedisCoordinationStore.class));
	}

	@Test
	void wiresEverythingInMemory() {
		this.memory.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(MemoryCoordinationStore.class)
			.doesNotHaveBean(RedisCoordinationStore.class));
	}

	@Test
	void endpointOverJmxHasTheSameOperations() {
		this.memory
			.withConfiguration(AutoConfigurations.of(JmxAutoConfiguration.class, EndpointAutoConfiguration.class,
					JmxEndpointAutoConfiguration.class))
			.withUserConfiguration(OneHandler.class)
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=shards")
			.run((context) -> {
				MBeanServer server = context.getBean(MBeanServer.class);
				ObjectName name = new ObjectName("org.springframework.boot:type=Endpoint,name=Shards");
				Awaitility.await()
					.untilAsserted(() -> assertThat(jmx(server, name, "groups", null, null, "OWNED", null, null, "1"))
						.asString()
						.contains("matching=2", "next=orders/0"));
				assertThat(jmx(server, name, "topic", "orders", null, null, null, null, null)).asString()
					.contains("topic=orders");
				assertThat(jmx(server, name, "shard", "orders", "1")).asString().contains("deadLetters=0");
				assertThat(jmx(server, name, "shard", "orders", "2")).isNull();
				assertThatThrownBy(() -> jmx(server, name, "groups", null, null, null, null, null, "1001"))
					.hasStackTraceContaining("'limit' is '1001', but must be a number from 0 to 1000");
			});
	}

	private static @Nullable Object jmx(MBeanServer server, ObjectName name, String operation,
			@Nullable Object... arguments) throws JMException {
		String[] types = new String[arguments.length];
		Arrays.fill(types, String.class.getName());
		return server.invoke(name, operation, arguments, types);
	}

	@Test
	void memoryStoreNeedsNoRedisClient() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.lettuce", "org.springframework.data.redis"))
			.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=orders")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void missingRedisClientFailsStartup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.lettuce", "org.springframework.data.redis"))
			.withPropertyValues("shardkeeper.group=orders")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), "Lettuce",
					"spring-boot-starter-data-redis"));
	}

	@Test
	void missingRedisModuleFailsStartup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.github.shardkeeper.redis"))
			.withPropertyValues("shardkeeper.group=orders")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper-redis' is not on", "shardkeeper-spring-boot-starter"));
	}

	@Test
	void canBeDisabled() {
		this.redis.withPropertyValues("shardkeeper.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ShardCoordinator.class));
	}

	@Test
	void groupDefaultsToApplicationName() {
		this.memory.withPropertyValues("shardkeeper.group=", "spring.application.name=shop")
			.run((context) -> assertThat(context.getBean(CoordinationSettings.class).group()).isEqualTo("shop"));
	}

	@Test
	void versionDefaultsToApplicationVersion() {
		this.memory.run((context) -> assertThat(context.getBean(CoordinationSettings.class).version())
			.isEqualTo(ApplicationVersion.UNKNOWN));
		this.memory.withPropertyValues("shardkeeper.version=", "spring.application.version=1.4.2")
			.run((context) -> assertThat(context.getBean(CoordinationSettings.class).version())
				.isEqualTo(new ApplicationVersion("1.4.2")));
		this.memory.withPropertyValues("shardkeeper.version=117", "spring.application.version=1.4.2")
			.run((context) -> assertThat(context.getBean(CoordinationSettings.class).version())
				.isEqualTo(new ApplicationVersion("117")));
	}

	@Test
	void endpointIsAbsentUnlessExposed() {
		this.memory.withPropertyValues("management.endpoints.web.exposure.include=health")
			.run((context) -> assertThat(context).doesNotHaveBean(ShardsEndpoint.class));
	}

	@Test
	void defaultInstanceIdsDiffer() {
		this.memory
			.run((one) -> this.memory.run((other) -> assertThat(one.getBean(CoordinationSettings.class).instance())
				.isNotEqualTo(other.getBean(CoordinationSettings.class).instance())));
	}

	@Test
	void handoverTimeoutFitsTheShutdownPhase() {
		this.memory.run((context) -> assertThat(handover(context)).isEqualTo(new HandoverRules(Duration.ofSeconds(30),
				HandoverRules.OnTimeout.HOLD, Duration.ZERO, Duration.ZERO, 0)));
		this.memory.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=2m")
			.run((context) -> assertThat(handover(context).timeout()).isEqualTo(Duration.ofSeconds(50)));
		this.memory
			.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=2m", "shardkeeper.handover.timeout=2m",
					"shardkeeper.handover.on-timeout=force", "shardkeeper.handover.quiet-period=1s",
					"shardkeeper.handover.crash-quiet-period=5s", "shardkeeper.handover.max-concurrent-moves=7")
			.run((context) -> assertThat(handover(context)).isEqualTo(new HandoverRules(Duration.ofMinutes(2),
					HandoverRules.OnTimeout.FORCE, Duration.ofSeconds(1), Duration.ofSeconds(5), 7)));
	}

	private static HandoverRules handover(AssertableApplicationContext context) {
		return context.getBean(CoordinationSettings.class).handover();
	}

	@Test
	void unknownStoreFailsStartup() {
		this.redis.withPropertyValues("shardkeeper.store=foo")
			.withBean(Sender.class)
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("shardkeeper.store")
				.hasStackTraceContaining("foo"));
	}

	@Test
	void instanceWithoutHandlersSendsAndDoesNotJoin() {
		this.redis.run((context) -> {
			assertThat(context.getBean(ShardTemplate.class).send("orders", "key", "value").offset()).isNotNull();
			assertThat(context.getBean(ShardCoordinator.class).member()).isEmpty();
			assertThat(context.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void selectorBeanSelectsShardsOfAllOrNamedTopics() {
		this.memory.withPropertyValues("shardkeeper.topics.visits.shards=5")
			.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.run((context) -> assertThat(context.getBean(ShardTemplate.class).send("visits", "k", "v").shard().id())
				.isEqualTo("4"));
		this.memory
			.withPropertyValues("shardkeeper.topics.visits.shards=5", "shardkeeper.topics.visits.selector=third",
					"shardkeeper.topics.orders.selector=last")
			.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.withBean("third", ShardSelector.class, () -> (topic, record, shards) -> 2)
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				assertThat(template.send("visits", "k", "v").shard().id()).isEqualTo("2");
				assertThat(template.send("orders", "k", "v").shard().id()).isEqualTo("1");
			});
		this.memory.withPropertyValues("shardkeeper.topics.orders.selector=lats")
			.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.topics.orders.selector'", "last"));
	}

	/** A second selector would change the shards of topics that name none. */
	@Test
	void severalSelectorsFailStartupUnlessOneIsPrimaryOrAllTopicsNameTheirs() {
		ApplicationContextRunner two = this.memory
			.withPropertyValues("shardkeeper.topics.visits.shards=5", "shardkeeper.topics.visits.selector=third")
			.withBean("third", ShardSelector.class, () -> (topic, record, shards) -> 2);
		two.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), "last, third",
					"'shardkeeper.topics.orders.selector'"));
		two.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1,
				(definition) -> definition.setPrimary(true))
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				assertThat(template.send("visits", "k", "v").shard().id()).isEqualTo("2");
				assertThat(template.send("orders", "k", "v").shard().id()).isEqualTo("1");
			});
	}

	@Test
	void templateLimitsAreConfigured() {
		this.memory.withPropertyValues("shardkeeper.max-record-size=10B")
			.run((context) -> assertThatExceptionOfType(RecordTooLargeException.class)
				.isThrownBy(() -> context.getBean(ShardTemplate.class).send("orders", "k", "1234567890"))
				.withMessageContaining("allows 10."));
	}

	@Test
	void recordsWithAnIdAndRetriesAreSentOnce() {
		for (ApplicationContextRunner runner : List.of(this.memory, this.redis)) {
			runner
				.withPropertyValues("shardkeeper.key-prefix=" + UUID.randomUUID(), "shardkeeper.template.retries=2",
						"shardkeeper.redis.record-ids.max-count=2")
				.run((context) -> {
					ShardTemplate template = context.getBean(ShardTemplate.class);
					Outgoing record = Outgoing.of("hello").withId("id-1");
					assertThat(template.send("orders", record)).isEqualTo(template.send("orders", record));
				});
		}
	}

	@Test
	void groupRegistersWithItsCoordinatedTopics() {
		for (String mode : List.of("coordinated", "broadcast")) {
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("shardkeeper.key-prefix=trim-" + mode, "shardkeeper.topics.orders.mode=" + mode,
						"shardkeeper.instance-id=one", "shardkeeper.topics.orders.trim.max-length=100")
				.run((context) -> {
					StringRedisTemplate commands = context.getBean(StringRedisTemplate.class);
					// Written right after the set of groups.
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> commands.hasKey("trim-" + mode + ":{orders}:trimming"));
					assertThat(commands.opsForSet().members("trim-" + mode + ":{orders}:groups"))
						.isEqualTo(mode.equals("broadcast") ? Set.of() : Set.of("orders"));
				});
		}
	}

	@Test
	void shutdownWaitsForRecordsInFlight() {
		List<CompletableFuture<ShardTemplate.Appended>> sent = new ArrayList<>();
		this.redis.run((context) -> {
			ShardTemplate template = context.getBean(ShardTemplate.class);
			for (int i = 0; i < 5000; i++) {
				sent.add(template.sendAsync("orders", "k", "value"));
			}
		});

		assertThat(sent).hasSize(5000).allSatisfy((future) -> assertThat(future).isCompleted());
	}

	static class Sender {

		Sender(ShardTemplate template) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OneHandler {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final CompletableFuture<String> received = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.received.complete(payload);
		}

	}

}
