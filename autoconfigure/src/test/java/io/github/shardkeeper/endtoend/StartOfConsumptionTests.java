package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Consumers, the runners of the application, and its readiness.
 */
@Timeout(60)
class StartOfConsumptionTests {

	private static final String[] PROPERTIES = { "shardkeeper.topics.orders.shards=4",
			"shardkeeper.redis.trust-empty=true" };

	private static final String AFTER_READINESS = "shardkeeper.consumer.startup=after-readiness";

	static Stream<Supplier<EmbeddedGroup>> stores() {
		return Stream.of(() -> EmbeddedGroup.inMemory(PROPERTIES), () -> EmbeddedGroup.onRedis(PROPERTIES));
	}

	@Test
	void consumersStartBeforeRunnersByDefault() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory(PROPERTIES)) {
			start(group, "one", (application) -> {
				assertThat(application.getBean(ShardConsumerRunner.class).isRunning()).isTrue();
				send(application);
				awaitRecords(application);
			});
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void instanceGetsNoShardsBeforeItIsReady(Supplier<EmbeddedGroup> groups) {
		try (EmbeddedGroup group = groups.get()) {
			ConfigurableApplicationContext one = start(group, "one", (application) -> {
			});
			awaitOwners(one, Map.of("one", 4L));
			ConfigurableApplicationContext two = start(group, "two", (application) -> {
				assertThat(application.getBean(ShardConsumerRunner.class).isRunning()).isFalse();
				assertThat(application.getBean(ShardCoordinator.class).isRunning()).isFalse();
				// Of a child context, which is not the application.
				try (GenericApplicationContext child = new GenericApplicationContext(application)) {
					child.refresh();
					AvailabilityChangeEvent.publish(child, ReadinessState.ACCEPTING_TRAFFIC);
				}
				assertThat(application.getBean(ShardConsumerRunner.class).isRunning()).isFalse();
			}, AFTER_READINESS);

			awaitOwners(one, Map.of("one", 2L, "two", 2L));
			send(two);
			awaitRecords(two);
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void lockOfARunnerIsHeldWhenConsumersStart(Supplier<EmbeddedGroup> groups) {
		try (EmbeddedGroup group = groups.get()) {
			Optional<?>[] session = new Optional<?>[1];
			ConfigurableApplicationContext one = start(group, "one", (application) -> {
				ClusterLock lock = application.getBean(ClusterLocks.class).get("import");
				lock.lock();
				session[0] = application.getBean(ShardCoordinator.class).member();
				assertThat(application.getBean(ShardConsumerRunner.class).isRunning()).isFalse();
			}, AFTER_READINESS);

			awaitOwners(one, Map.of("one", 4L));
			assertThat(one.getBean(ShardCoordinator.class).member()).map(MemberId::toString)
				.isEqualTo(session[0].map(Object::toString));
			ClusterLock lock = one.getBean(ClusterLocks.class).get("import");
			assertThat(lock.isHeld()).isTrue();
			lock.unlock();
			send(one);
			awaitRecords(one);
		}
	}

	@Test
	void wrongHandlerFailsStartupBeforeRunners() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.visits.shards=4")) {
			List<String> run = new CopyOnWriteArrayList<>();

			assertThatExceptionOfType(ShardkeeperConfigurationException.class)
				.isThrownBy(() -> start(group, "one", (application) -> run.add("run"), AFTER_READINESS))
				.withMessageContaining("'orders'");
			assertThat(run).isEmpty();
		}
	}

	@Test
	void consumersOfAReadyApplicationStopAndStartWithItsContext() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory(PROPERTIES)) {
			ConfigurableApplicationContext one = start(group, "one", (application) -> {
			}, AFTER_READINESS);
			ShardConsumerRunner runner = one.getBean(ShardConsumerRunner.class);
			assertThat(runner.isRunning()).isTrue();

			one.pause();
			assertThat(runner.isRunning()).isFalse();
			one.restart();
			assertThat(runner.isRunning()).isTrue();
			one.stop();
			assertThat(runner.isRunning()).isFalse();
			AvailabilityChangeEvent.publish(one, ReadinessState.REFUSING_TRAFFIC);
			AvailabilityChangeEvent.publish(one, ReadinessState.ACCEPTING_TRAFFIC);
			assertThat(runner.isRunning()).as("only the first readiness starts it").isFalse();
			one.start();
			assertThat(runner.isRunning()).isTrue();
			send(one);
			awaitRecords(one);
		}
	}

	private static ConfigurableApplicationContext start(EmbeddedGroup group, String instance,
			Consumer<ConfigurableApplicationContext> run, String... properties) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
			.initializers((ApplicationContextInitializer<GenericApplicationContext>) (context) -> context
				.registerBean("run", ApplicationRunner.class, () -> (arguments) -> run.accept(context)));
		return group.start(application, instance, properties);
	}

	private static void send(ConfigurableApplicationContext instance) {
		for (int key = 0; key < 40; key++) {
			instance.getBean(ShardTemplate.class).send("orders", "key-" + key, "payload");
		}
	}

	private static void awaitRecords(ConfigurableApplicationContext instance) {
		List<String> records = instance.getBean(Handler.class).records;
		Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !records.isEmpty());
	}

	private static void awaitOwners(ConfigurableApplicationContext instance, Map<String, Long> loads) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.untilAsserted(() -> assertThat(instance.getBean(GroupReporter.class)
				.report()
				.shards()
				.stream()
				.map(ShardReport::owner)
				.collect(Collectors.groupingBy((owner) -> String.valueOf(owner).split("~")[0], Collectors.counting())))
				.isEqualTo(loads));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		private final List<String> records = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.records.add(payload);
		}

	}

}
