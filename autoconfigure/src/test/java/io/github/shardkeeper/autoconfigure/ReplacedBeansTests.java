package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.autoconfigure.cluster.ClusterParametersConfiguration;
import io.github.shardkeeper.autoconfigure.cluster.ClusterToolsConfiguration;
import io.github.shardkeeper.autoconfigure.payload.MessagingConfiguration;
import io.github.shardkeeper.autoconfigure.store.MemoryStoreConfiguration;
import io.github.shardkeeper.autoconfigure.store.RedisStoreConfiguration;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.observation.ShardConsumeConvention;
import io.github.shardkeeper.observation.ShardSendConvention;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.template.DuplicateSendListener;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerMeters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans of the application that replace those of Shardkeeper, as the reference lists
 * them.
 */
@Promise("Clear errors")
class ReplacedBeansTests {

	private static final List<Class<?>> REPLACEABLE = List.of(AssignmentStrategy.class, ShardSource.class,
			ShardCatalog.class, CoordinationStore.class, CheckpointStore.class, DeadLetterStore.class,
			DeadLetters.class, ShardPositions.class, RetiredTopics.class, ShardStateReader.class, ShardTemplate.class,
			ShardSelector.class, PayloadConverter.class, MessageArguments.class, ConsumerMeters.class, LoopMeters.class,
			DuplicateSendListener.class, ShardConsumeConvention.class, ShardSendConvention.class, ClusterView.class,
			ClusterLocks.class, DoubleBarriers.class, ClusterSignals.class, ClusterParameters.class);

	private static final List<Class<?>> CONFIGURATIONS = List.of(ShardkeeperAutoConfiguration.class,
			RedisStoreConfiguration.class, MemoryStoreConfiguration.class, MessagingConfiguration.class,
			ObservationConfiguration.class, ClusterToolsConfiguration.class, ClusterParametersConfiguration.class,
			ShardkeeperActuatorAutoConfiguration.class);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class,
						DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(ObservationRegistry.class, ObservationRegistry::create)
		.withPropertyValues("shardkeeper.observations.enabled=true", "shardkeeper.group=orders",
				"shardkeeper.topics.orders.shards=2", "shardkeeper.session.lease=1s",
				"shardkeeper.session.heartbeat-interval=100ms",
				"spring.data.redis.port=" + EmbeddedRedis.shared().port());

	/** A store is alone: without the default one other beans are missing, too. */
	@ParameterizedTest
	@ValueSource(strings = { "memory", "redis" })
	void applicationBeansReplaceDefaults(String store) {
		List<Class<?>> stores = List.of(CoordinationStore.class, CheckpointStore.class);
		stores.forEach((type) -> assertReplaced(store, List.of(type)));
		assertReplaced(store, REPLACEABLE.stream().filter((type) -> !stores.contains(type)).toList());
	}

	@ParameterizedTest
	@ValueSource(strings = { "memory", "redis" })
	@Tag("proof")
	void applicationBeanReplacesDefaultAlone(String store) {
		REPLACEABLE.forEach((type) -> assertReplaced(store, List.of(type)));
	}

	private void assertReplaced(String store, List<Class<?>> types) {
		ApplicationContextRunner own = this.runner.withPropertyValues("shardkeeper.store=" + store);
		for (Class<?> type : types) {
			own = withBean(own, "own" + type.getSimpleName(), type);
		}
		own.run((context) -> {
			assertThat(context).as("%s", types).hasNotFailed();
			assertThat(types).allSatisfy((type) -> assertThat(context.getBeanNamesForType(type))
				.containsExactly("own" + type.getSimpleName()));
		});
	}

	@Test
	void referenceListsAllReplaceableBeans() throws Exception {
		String reference = Files.readString(Path.of("..", "docs", "reference", "configuration.md"));
		int begin = reference.indexOf("| interface | default | purpose |");
		assertThat(begin).isPositive();
		List<String> documented = reference.substring(begin)
			.lines()
			.skip(2)
			.takeWhile((line) -> line.startsWith("|"))
			.flatMap((row) -> Pattern.compile("`([A-Za-z]+)`").matcher(row.split("\\|")[1]).results())
			.map((name) -> name.group(1))
			.toList();
		assertThat(documented)
			.containsExactlyInAnyOrderElementsOf(REPLACEABLE.stream().map(Class::getSimpleName).toList());
	}

	@Test
	void onlyDocumentedInterfacesAreConditionalOnMissingBean() {
		List<Class<?>> conditional = conditionalMethods().filter((method) -> conditionalNames(method).isEmpty())
			.<Class<?>>map((method) -> {
				Class<?>[] types = method.getAnnotation(ConditionalOnMissingBean.class).value();
				return (types.length > 0) ? types[0] : method.getReturnType();
			})
			.toList();
		assertThat(conditional).isNotEmpty().allMatch(Class::isInterface).isSubsetOf(REPLACEABLE);
	}

	/** As those of Spring Boot, they have no interface of their own. */
	@Test
	void onlyHealthIndicatorsAreReplacedByName() {
		List<Method> methods = conditionalMethods().filter((method) -> !conditionalNames(method).isEmpty()).toList();
		assertThat(methods).isNotEmpty().allSatisfy((method) -> {
			assertThat(method.getReturnType()).isAssignableTo(HealthIndicator.class);
			assertThat(conditionalNames(method)).contains(method.getName());
			assertThat(Path.of("..", "docs", "reference", "endpoint.md")).content().contains(method.getName());
		});
	}

	private static Stream<Method> conditionalMethods() {
		return CONFIGURATIONS.stream()
			.flatMap((configuration) -> Stream.concat(Stream.of(configuration),
					Stream.of(configuration.getDeclaredClasses())))
			.flatMap((configuration) -> Stream.of(configuration.getDeclaredMethods()))
			.filter((method) -> method.isAnnotationPresent(ConditionalOnMissingBean.class));
	}

	private static List<String> conditionalNames(Method method) {
		return List.of(method.getAnnotation(ConditionalOnMissingBean.class).name());
	}

	@Test
	void metersBeanIsCalled() {
		BlockingQueue<String> calls = new LinkedBlockingQueue<>();
		Recorder handler = new Recorder();
		this.runner.withPropertyValues("shardkeeper.store=memory")
			.withBean("own", ConsumerMeters.class, () -> new OwnMeters(calls))
			.withBean(Recorder.class, () -> handler)
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", "hello");
				assertThat(calls.poll(20, TimeUnit.SECONDS)).isEqualTo("1 of orders");
				assertThat(context.getBean(MeterRegistry.class).find("shardkeeper.consume").meter()).isNull();
			});
	}

	@Test
	void converterBeanWritesAndReads() {
		Recorder handler = new Recorder();
		this.runner.withPropertyValues("shardkeeper.store=memory")
			.withBean("own", PayloadConverter.class, Backwards::new)
			.withBean(Recorder.class, () -> handler)
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", "hello");
				assertThat(handler.handled.poll(20, TimeUnit.SECONDS)).isEqualTo("read hello");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { ConsumerMeters.class, LoopMeters.class, ShardCatalog.class })
	void twoBeansOfOneTypeFailStartup(Class<?> type) {
		withBean(withOwn(this.runner.withPropertyValues("shardkeeper.store=memory"), type), "another", type)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasRootCauseInstanceOf(NoUniqueBeanDefinitionException.class));
	}

	/**
	 * Dead letters are written with the checkpoints, so another store would stay empty.
	 */
	@Test
	void deadLettersAreDisabledWithCheckpointStoreBean() {
		for (String store : List.of("memory", "redis")) {
			withOwn(this.runner.withPropertyValues("shardkeeper.store=" + store), CheckpointStore.class)
				.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DeadLetters.class));
		}
	}

	/** They need the sessions of the default store. */
	@ParameterizedTest
	@ValueSource(classes = { ExclusiveMethod.class, SignalMethod.class, ParameterField.class })
	void annotationsOfClusterToolsBesideACoordinationStoreBeanFailStartup(Class<?> annotated) {
		for (String store : List.of("memory", "redis")) {
			ApplicationContextRunner own = withOwn(this.runner.withPropertyValues("shardkeeper.store=" + store),
					CoordinationStore.class);
			own.withBean(annotated).run((context) -> {
				assertThat(context).as(store).hasFailed();
				assertThat(context.getStartupFailure()).as(store)
					.rootCause()
					.isInstanceOf(ShardkeeperConfigurationException.class)
					.hasMessageContaining(annotated.getSimpleName() + ".annotated")
					.hasMessageContaining("CoordinationStore");
			});
			own.run((context) -> assertThat(context).as(store).hasNotFailed().doesNotHaveBean(ClusterLocks.class));
		}
	}

	private static ApplicationContextRunner withOwn(ApplicationContextRunner runner, Class<?> type) {
		return withBean(runner, "own", type);
	}

	private static <T> ApplicationContextRunner withBean(ApplicationContextRunner runner, String name, Class<T> type) {
		return runner.withBean(name, type,
				() -> type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
						(proxy, method, args) -> reply(method.getName(), method.getReturnType(), proxy))));
	}

	private static Object reply(String method, Class<?> type, Object proxy) {
		return switch (method) {
			case "hashCode" -> System.identityHashCode(proxy);
			case "equals" -> false;
			case "toString" -> "own";
			default -> (type == Map.class) ? Map.of() : (type == boolean.class) ? false : null;
		};
	}

	private record OwnMeters(BlockingQueue<String> calls) implements ConsumerMeters {

		@Override
		public TopicMeters of(String topic) {
			return new TopicMeters() {
				@Override
				public void handled(int records, Duration duration) {
					OwnMeters.this.calls.add(records + " of " + topic);
				}
			};
		}

	}

	private static final class Backwards implements PayloadConverter {

		@Override
		public byte[] write(Object payload) {
			return new StringBuilder(payload.toString()).reverse().toString().getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public Object read(byte[] payload, Type type) {
			return "read " + new StringBuilder(new String(payload, StandardCharsets.UTF_8)).reverse();
		}

	}

	static class ExclusiveMethod {

		@ClusterExclusive("name")
		void annotated() {
		}

	}

	static class SignalMethod {

		@OnClusterSignal("name")
		void annotated() {
		}

	}

	static class ParameterField {

		@ClusterParameter("name")
		private volatile int annotated = 1;

		int annotated() {
			return this.annotated;
		}

	}

	static class Recorder {

		private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.handled.add(payload);
		}

	}

}
