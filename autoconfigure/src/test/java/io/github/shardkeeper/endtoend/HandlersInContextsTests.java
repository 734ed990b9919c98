package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Update;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Handlers that are lazy, or in another context of the hierarchy than Shardkeeper.
 */
@ExtendWith(OutputCaptureExtension.class)
class HandlersInContextsTests {

	private static final String[] PROPERTIES = { "shardkeeper.group=contexts", "shardkeeper.store=memory",
			"shardkeeper.topics.orders.shards=1", "spring.main.banner-mode=off" };

	@ParameterizedTest
	@ValueSource(classes = { OfInterface.class, OfSuperclass.class, OfClass.class })
	void handlerIsFoundWithLazyInitialization(Class<?> application) {
		try (ConfigurableApplicationContext context = start(application, "spring.main.lazy-initialization=true")) {
			send(context);

			awaitRecord(context.getBean(Records.class));
		}
	}

	@Test
	void signalMethodIsFoundWithLazyInitialization() throws Exception {
		try (ConfigurableApplicationContext context = start(HiddenSignal.class,
				"spring.main.lazy-initialization=true")) {
			context.getBean(ClusterSignals.class).send("refresh", "now");

			awaitRecord(context.getBean(Records.class));
		}
	}

	@Test
	void parameterFollowsTheStoreWithLazyInitialization() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.orders.shards=1",
				"spring.main.lazy-initialization=true")) {
			Parameter<Integer> limit = group.start(OfClass.class, "one")
				.getBean(ClusterParameters.class)
				.get("limit", Integer.class, 3);
			ClusterParameters others = group.start(OfClass.class, "two").getBean(ClusterParameters.class);
			others.get("limit", Integer.class, 3);
			Awaitility.await()
				.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
				.until(() -> others.set("limit", "5", Update.ALWAYS) > 0);

			Awaitility.await().until(() -> limit.get() == 5);
		}
	}

	@Test
	void beanOfAParentContextIsRefusedWithLazyInitialization() {
		try (ConfigurableApplicationContext parent = new SpringApplicationBuilder(OnlyExclusive.class)
			.web(WebApplicationType.NONE)
			.run()) {
			SpringApplicationBuilder child = new SpringApplicationBuilder(Application.class).parent(parent)
				.web(WebApplicationType.NONE)
				.properties(PROPERTIES)
				.properties("spring.main.lazy-initialization=true");

			assertRefused(child, "is in a parent context", "Move the bean to the context that has Shardkeeper");
		}
	}

	@Test
	void lazyHandlerWhoseClassIsKnownIsFound() {
		try (ConfigurableApplicationContext context = start(LazyHandler.class)) {
			send(context);

			awaitRecord(context.getBean(Records.class));
		}
	}

	@Test
	void lazyBeanThatHidesAHandlerIsNamed(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(LazyHidden.class)) {
			assertThat(output).contains("does not consume the topics [orders]", "handler=" + Consuming.class.getName(),
					"remove @Lazy");

			context.getBean("handler");
			assertThat(output).containsOnlyOnce("The bean 'handler' of " + Handler.class.getName()
					+ " has @ShardConsumer methods that are not called");
		}
	}

	@Test
	void handlerOfAParentContextIsCalled() {
		try (ConfigurableApplicationContext parent = new SpringApplicationBuilder(OnlyHandler.class)
			.web(WebApplicationType.NONE)
			.run()) {
			ConfigurableApplicationContext child = new SpringApplicationBuilder(Application.class).parent(parent)
				.web(WebApplicationType.NONE)
				.properties(PROPERTIES)
				.run();
			try (child) {
				send(child);

				awaitRecord(parent.getBean(Records.class));
			}
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { OnlyExclusive.class, OnlyParameter.class })
	void beanOfAParentContextThatCannotBeInterceptedIsRefused(Class<?> bean) {
		try (ConfigurableApplicationContext parent = new SpringApplicationBuilder(bean).web(WebApplicationType.NONE)
			.run()) {
			SpringApplicationBuilder child = new SpringApplicationBuilder(Application.class).parent(parent)
				.web(WebApplicationType.NONE)
				.properties(PROPERTIES);

			assertRefused(child, "is in a parent context", "Move the bean to the context that has Shardkeeper");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { OnlyHandler.class, OnlySignal.class, OnlyExclusive.class, OnlyParameter.class })
	void beanOfAChildContextIsRefused(Class<?> bean) {
		try (ConfigurableApplicationContext parent = start(Application.class)) {
			SpringApplicationBuilder child = new SpringApplicationBuilder(bean).parent(parent)
				.web(WebApplicationType.NONE);

			assertRefused(child, "is in a child context of Shardkeeper's",
					"exclude ShardkeeperAutoConfiguration in the parent");
		}
	}

	@Test
	void handlerOfAChildContextWithAutoConfigurationIsRefused() {
		try (ConfigurableApplicationContext parent = start(Application.class)) {
			SpringApplicationBuilder child = new SpringApplicationBuilder(OnlyHandler.class, Application.class)
				.parent(parent)
				.web(WebApplicationType.NONE);

			assertRefused(child, "The bean 'handler' of " + Handler.class.getName() + " has a @ShardConsumer method",
					"Move the bean");
		}
	}

	@Test
	void childContextUsesTheBeansOfItsParent() {
		try (ConfigurableApplicationContext parent = start(OfClass.class)) {
			ConfigurableApplicationContext child = new SpringApplicationBuilder(Application.class).parent(parent)
				.web(WebApplicationType.NONE)
				.run();
			try (child) {
				assertThat(child.getBean(ShardConsumerRunner.class))
					.isSameAs(parent.getBean(ShardConsumerRunner.class));
				assertThat(child.getBean(ShardCoordinator.class)).isSameAs(parent.getBean(ShardCoordinator.class));
				send(child);

				awaitRecord(parent.getBean(Records.class));
			}
			assertThat(parent.getBean(ShardConsumerRunner.class).isRunning()).isTrue();
		}
	}

	@Test
	void propertyOfAChildContextIsRefused() {
		try (ConfigurableApplicationContext parent = start(Application.class)) {
			SpringApplicationBuilder child = new SpringApplicationBuilder(Application.class).parent(parent)
				.web(WebApplicationType.NONE)
				.properties("shardkeeper.topics.visits.shards=3");

			assertRefused(child, "'shardkeeper.topics.visits.shards' is '3' in the child context",
					"Set it in the parent context");
		}
	}

	private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
		SpringApplication app = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.properties(PROPERTIES)
			.properties(properties)
			.build();
		return app.run();
	}

	private static void assertRefused(SpringApplicationBuilder application, String description, String action) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(application::run)
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains(description);
				assertThat(ex.getAction()).contains(action);
			});
	}

	private static void send(ConfigurableApplicationContext context) {
		context.getBean(ShardTemplate.class).send("orders", "k", "payload");
	}

	private static void awaitRecord(Records records) {
		Awaitility.await().until(() -> !records.all.isEmpty());
	}

	static class Records {

		private final List<String> all = new CopyOnWriteArrayList<>();

	}

	interface Consuming {

	}

	static class Base {

	}

	static class Handler extends Base implements Consuming {

		private final Records records;

		Handler(Records records) {
			this.records = records;
		}

		@ShardConsumer("orders")
		void handle(String payload) {
			this.records.all.add(payload);
		}

	}

	static class Refresher implements Consuming {

		private final Records records;

		Refresher(Records records) {
			this.records = records;
		}

		@OnClusterSignal("refresh")
		void refresh(String payload) {
			this.records.all.add(payload);
		}

	}

	static class Job {

		@ClusterExclusive("job")
		void run() {
		}

	}

	static class Tuned {

		@ClusterParameter("limit")
		private volatile int limit = 3;

		int limit() {
			return this.limit;
		}

	}

	/** What handlers have received. */
	abstract static class WithRecords {

		@Bean
		Records records() {
			return new Records();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class OfInterface extends WithRecords {

		@Bean
		Consuming handler(Records records) {
			return new Handler(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class OfSuperclass extends WithRecords {

		@Bean
		Base handler(Records records) {
			return new Handler(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class OfClass extends WithRecords {

		@Bean
		Handler handler(Records records) {
			return new Handler(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class HiddenSignal extends WithRecords {

		@Bean
		Consuming refresher(Records records) {
			return new Refresher(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class LazyHandler extends WithRecords {

		@Bean
		@Lazy
		Handler handler(Records records) {
			return new Handler(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(ShardkeeperAutoConfiguration.class)
	static class LazyHidden extends WithRecords {

		@Bean
		@Lazy
		Consuming handler(Records records) {
			return new Handler(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnlyHandler extends WithRecords {

		@Bean
		Handler handler(Records records) {
			return new Handler(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnlySignal {

		@Bean
		Refresher refresher() {
			return new Refresher(new Records());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnlyExclusive {

		@Bean
		Job job() {
			return new Job();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnlyParameter {

		@Bean
		Tuned tuned() {
			return new Tuned();
		}

	}

}
