package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.ShardConsumers.Registration;
import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Handlers that an application starts, pauses and stops. */
class ShardConsumersTests {

	private static final int SHARDS = 4;

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.orders.shards=" + SHARDS,
			"shardkeeper.topics.prices.shards=1", "management.endpoints.web.exposure.include=shards");

	private int sent;

	@Test
	void handlersAreListedByTopic() {
		ConfigurableApplicationContext one = start("one");
		awaitShards(one, "orders", SHARDS);
		awaitShards(one, "prices", 1);

		Map<String, Registration> found = consumers(one).registrations();

		assertThat(found).containsOnlyKeys("orders", "prices");
		assertThat(found.get("orders").handler()).contains("Handler.count");
		assertThat(found.get("orders").state()).isEqualTo(State.RUNNING);
		assertThat(found.get("prices").shards()).containsExactly(ShardId.of("prices", 0));
		assertThatIllegalArgumentException().isThrownBy(() -> consumers(one).start("order"))
			.withMessage("No @ShardConsumer method of this instance consumes the topic 'order': "
					+ "it has handlers of [orders, prices]");
		assertThatIllegalArgumentException().isThrownBy(() -> consumers(one).pause("order"));
		assertThatIllegalArgumentException().isThrownBy(() -> consumers(one).stop("order"));
	}

	@Test
	void shardsOfAStoppedTopicMoveWithTheirState() {
		ConfigurableApplicationContext one = start("one");
		handle(one, 40, one);
		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(shards(two, "orders")).isNotEmpty());

		assertThat(consumers(two).stop("orders")).succeedsWithin(PATIENCE);

		assertThat(state(two, "orders")).isEqualTo(State.STOPPED);
		assertThat(shards(two, "orders")).isEmpty();
		handle(one, 40, one);
		assertThat(handler(two).calls).isEmpty();
		assertThat(counted(one)).as("on the state that has moved twice").isEqualTo(80);

		consumers(two).start("orders");
		eventually(() -> assertThat(shards(two, "orders")).isNotEmpty());
		handle(one, 40, one, two);
		assertThat(counted(one, two)).isEqualTo(120);
	}

	@Test
	@Tag("proof")
	void topicThatIsStoppedEverywhereHasNoOwnerAndOthersGoOn() {
		ConfigurableApplicationContext one = start("one");
		handle(one, 20, one);

		assertThat(consumers(one).stop("orders")).succeedsWithin(PATIENCE);
		send(one, 20);
		sendPrice(one);
		eventually(() -> assertThat(handler(one).prices).containsExactly("a price"));
		eventually(() -> assertThat(reported(one)).hasSize(SHARDS)
			.allSatisfy((shard) -> assertThat(shard.owner()).isNull()));
		assertThat(handler(one).calls).hasSize(20);
		assertThat(health(one).getDetails()).containsEntry("consumers", Map.of("orders", State.STOPPED));

		consumers(one).start("orders");
		eventually(() -> assertThat(handler(one).calls).hasSize(40));
		assertThat(counted(one)).isEqualTo(40);
		assertThat(health(one).getDetails()).doesNotContainKey("consumers");
	}

	@Test
	void shardsOfAPausedTopicStayAndWait() {
		ConfigurableApplicationContext one = start("one");
		handle(one, 20, one);

		consumers(one).pause("orders");
		send(one, 20);
		sendPrice(one);

		eventually(() -> assertThat(handler(one).prices).hasSize(1));
		assertThat(state(one, "orders")).isEqualTo(State.PAUSED);
		assertThat(shards(one, "orders")).hasSize(SHARDS);
		assertThat(handler(one).calls).hasSize(20);
		assertThat(health(one).getStatus()).isEqualTo(Status.UP);
		assertThat(health(one).getDetails()).containsEntry("consumers", Map.of("orders", State.PAUSED))
			.doesNotContainKey("retrying");
		assertThat(reported(one)).extracting(ShardReport::problem)
			.allSatisfy((problem) -> assertThat(problem).contains("paused", "ShardConsumers.pause"));
		assertThat(consumers(one).stop("orders")).as("while it is paused").succeedsWithin(PATIENCE);
		assertThat(handler(one).calls).hasSize(20);
		consumers(one).start("orders");
		eventually(() -> assertThat(handler(one).calls).hasSize(40));
	}

	@Test
	@Tag("proof")
	void handlerStopsItsOwnTopic() {
		ConfigurableApplicationContext one = start("one");
		awaitShards(one, "orders", SHARDS);
		CompletableFuture<CompletableFuture<Void>> stop = new CompletableFuture<>();
		handler(one).onCall = () -> stop.complete(consumers(one).stop("orders"));
		send(one, 1);

		assertThat(stop).succeedsWithin(PATIENCE);
		assertThat(stop.join()).succeedsWithin(PATIENCE);
		assertThat(handler(one).calls).hasSize(1);
		handler(one).onCall = () -> {
		};
		consumers(one).start("orders");
		handle(one, 20, one);
		assertThat(counted(one)).as("the call that has stopped it counts").isEqualTo(21);
	}

	@Test
	void stopWaitsForARunningCallAndFailsIfItIsTakenBack() {
		ConfigurableApplicationContext one = start("one");
		awaitShards(one, "orders", SHARDS);
		CountDownLatch mayReturn = blockCalls(one, 1);

		CompletableFuture<Void> first = consumers(one).stop("orders");
		eventually(() -> assertThat(shards(one, "orders")).as("the others have no call").hasSize(1));
		consumers(one).start("orders");
		assertThat(first).failsWithin(PATIENCE)
			.withThrowableThat()
			.withMessageContaining("Topic 'orders' is running again before it had stopped");
		CompletableFuture<Void> second = consumers(one).stop("orders");
		assertThat(consumers(one).stop("orders")).isNotDone();
		assertThat(second).isNotDone();
		mayReturn.countDown();

		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(counted(one)).isEqualTo(1);
	}

	/** The shards are on their way to the instance that stops. */
	@Test
	@Tag("proof")
	void stopDuringAHandover() {
		ConfigurableApplicationContext one = start("one");
		handle(one, 20, one);
		CountDownLatch mayReturn = blockCalls(one, 60);
		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(reported(one)).extracting(ShardReport::state).contains("REVOKING"));

		assertThat(consumers(two).stop("orders")).succeedsWithin(PATIENCE);
		mayReturn.countDown();

		eventually(() -> assertThat(handler(one).calls).hasSize(80));
		awaitShards(one, "orders", SHARDS);
		assertThat(handler(two).calls).isEmpty();
		assertThat(counted(one)).isEqualTo(80);
	}

	/** A group that begins at the latest record begins when somebody starts the topic. */
	@Test
	void topicWithoutAutoStartupWaitsForTheApplication() {
		ConfigurableApplicationContext one = start("one", "shardkeeper.consumer.auto-startup=false",
				"shardkeeper.topics.prices.consumer.auto-startup=true", "shardkeeper.topics.orders.start=latest");
		send(one, 20);
		sendPrice(one);
		eventually(() -> assertThat(handler(one).prices).hasSize(1));
		assertThat(state(one, "orders")).isEqualTo(State.STOPPED);
		assertThat(reported(one)).as("known to the group").isEmpty();
		assertThat(consumers(one).stop("orders")).as("is stopped").succeedsWithin(PATIENCE);

		consumers(one).start("orders");
		awaitShards(one, "orders", SHARDS);
		send(one, 20);

		eventually(() -> assertThat(handler(one).calls).hasSize(20));
		assertThat(handler(one).calls).allSatisfy((call) -> assertThat(call).isGreaterThan(20));
	}

	@Test
	@Tag("proof")
	void runnerStartsATopicBeforeTheConsumersStart() {
		ConfigurableApplicationContext one = this.group.start(Starting.class, "one",
				"shardkeeper.consumer.startup=after-readiness", "shardkeeper.consumer.auto-startup=false");

		handle(one, 20, one);
		assertThat(state(one, "prices")).isEqualTo(State.STOPPED);
	}

	@Test
	@Tag("proof")
	void statesOutlastAPauseOfTheContext() {
		ConfigurableApplicationContext one = start("one");
		awaitShards(one, "orders", SHARDS);
		assertThat(consumers(one).stop("orders")).succeedsWithin(PATIENCE);

		one.pause();
		assertThat(state(one, "prices")).as("does not run").isEqualTo(State.STOPPED);
		assertThat(consumers(one).stop("prices")).succeedsWithin(PATIENCE);
		consumers(one).start("prices");
		one.restart();

		send(one, 20);
		sendPrice(one);
		eventually(() -> assertThat(handler(one).prices).hasSize(1));
		assertThat(handler(one).calls).isEmpty();
		consumers(one).start("orders");
		eventually(() -> assertThat(handler(one).calls).hasSize(20));
	}

	@Test
	@Tag("proof")
	void broadcastTopicIsPausedAndStopped() {
		ConfigurableApplicationContext one = start("one", "shardkeeper.topics.prices.mode=broadcast");
		ConfigurableApplicationContext two = start("two", "shardkeeper.topics.prices.mode=broadcast");
		awaitShards(one, "prices", 1);
		awaitShards(two, "prices", 1);
		assertThat(consumers(one).stop("prices")).succeedsWithin(PATIENCE);
		consumers(two).pause("prices");
		sendPrice(one);
		handle(one, 20, one, two);
		assertThat(shards(one, "prices")).isEmpty();
		assertThat(shards(two, "prices")).hasSize(1);
		assertThat(handler(one).prices).isEmpty();
		assertThat(handler(two).prices).isEmpty();

		consumers(one).start("prices");
		consumers(two).start("prices");

		eventually(() -> assertThat(handler(two).prices).containsExactly("a price"));
		eventually(() -> assertThat(handler(one).prices).containsExactly("a price"));
	}

	@Test
	void handlerOfABeanThatAPropertyLeavesOutDoesNotExist() {
		ConfigurableApplicationContext one = this.group.start(Conditional.class, "one", "app.orders=false");

		assertThat(consumers(one).registrations()).isEmpty();
		assertThatIllegalArgumentException().isThrownBy(() -> consumers(one).start("orders"))
			.withMessageEndingWith("it has none, or its application context has not started yet");
		ConfigurableApplicationContext two = this.group.start(Conditional.class, "two", "app.orders=true");
		handle(one, 20, two);
	}

	private ConfigurableApplicationContext start(String instance, String... properties) {
		return this.group.start(Application.class, instance, properties);
	}

	private static ShardConsumers consumers(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardConsumers.class);
	}

	private static Handler handler(ConfigurableApplicationContext instance) {
		return instance.getBean(Handler.class);
	}

	private static List<ShardReport> reported(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class)
			.report()
			.shards()
			.stream()
			.filter((shard) -> shard.topic().equals("orders"))
			.toList();
	}

	/** Sends orders, and waits until the call of one of them waits. */
	private CountDownLatch blockCalls(ConfigurableApplicationContext instance, int orders) {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch mayReturn = new CountDownLatch(1);
		handler(instance).onCall = () -> {
			begun.countDown();
			await(mayReturn);
		};
		send(instance, orders);
		await(begun);
		return mayReturn;
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	private static State state(ConfigurableApplicationContext instance, String topic) {
		return consumers(instance).registrations().get(topic).state();
	}

	private static Set<ShardId> shards(ConfigurableApplicationContext instance, String topic) {
		return consumers(instance).registrations().get(topic).shards();
	}

	private static void awaitShards(ConfigurableApplicationContext instance, String topic, int count) {
		eventually(() -> assertThat(shards(instance, topic)).hasSize(count));
	}

	/** Sends orders and waits until the instances have handled all that were sent. */
	private void handle(ConfigurableApplicationContext sender, int count, ConfigurableApplicationContext... instances) {
		List<Handler> handlers = List.of(instances).stream().map(ShardConsumersTests::handler).toList();
		int before = handlers.stream().mapToInt((handler) -> handler.calls.size()).sum();
		send(sender, count);
		eventually(() -> assertThat(handlers.stream().mapToInt((handler) -> handler.calls.size()).sum())
			.isEqualTo(before + count));
	}

	private static void sendPrice(ConfigurableApplicationContext sender) {
		sender.getBean(ShardTemplate.class).send("prices", "key", "a price");
	}

	private void send(ConfigurableApplicationContext sender, int count) {
		for (int i = 0; i < count; i++) {
			this.sent++;
			sender.getBean(ShardTemplate.class).send("orders", "key" + this.sent % 20, this.sent);
		}
	}

	/** Returns the sum of the counts that the last call of each shard has seen. */
	private static long counted(ConfigurableApplicationContext... instances) {
		Map<String, Long> counts = new TreeMap<>();
		for (ConfigurableApplicationContext instance : instances) {
			handler(instance).counts.forEach((shard, count) -> counts.merge(shard, count, Math::max));
		}
		return counts.values().stream().mapToLong(Long::longValue).sum();
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(4, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	/** Handler of orders and prices. */
	static class Handler {

		private final List<Integer> calls = new CopyOnWriteArrayList<>();

		private final List<String> prices = new CopyOnWriteArrayList<>();

		private final Map<String, Long> counts = new ConcurrentHashMap<>();

		private volatile Runnable onCall = () -> {
		};

		@ShardConsumer("orders")
		void count(Integer order, ShardContext shard, ShardState state) {
			this.onCall.run();
			this.calls.add(order);
			this.counts.put(shard.shard().id(), state.increment("orders", 1));
		}

		@ShardConsumer("prices")
		void price(String price) {
			this.prices.add(price);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Starting extends Application {

		@Bean
		ApplicationRunner starter(ShardConsumers consumers) {
			return (arguments) -> consumers.start("orders");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Conditional {

		@Bean
		@ConditionalOnProperty("app.orders")
		Handler handler() {
			return new Handler();
		}

	}

}
