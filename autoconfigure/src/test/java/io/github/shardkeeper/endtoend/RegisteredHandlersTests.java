package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.NumericOffsets;
import io.github.shardkeeper.source.PollingShardReader;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Handlers that an application registers and removes while it runs. */
class RegisteredHandlersTests {

	private static final int SHARDS = 4;

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.orders.shards=" + SHARDS,
			"shardkeeper.topics.prices.shards=1", "shardkeeper.topics.polls.shards=2",
			"shardkeeper.topics.polls.source=fixed", "management.endpoints.web.exposure.include=shards");

	private int sent;

	@Test
	void registeredHandlerConsumesFromNowOnWithOthers() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		send(one, 20);
		Counter counter = new Counter();

		assertThat(consumers(one).register(counter)).containsExactly("orders");

		eventually(() -> assertThat(counter.calls).hasSize(20));
		assertThat(counter.counted()).isEqualTo(20);
		assertThat(consumers(one).registrations()).containsOnlyKeys("orders", "prices");
		assertThat(consumers(one).registrations().get("orders").handler()).contains("Counter.count");
		assertThat(shards(one, "orders")).hasSize(SHARDS);
		sendPrice(one);
		eventually(() -> assertThat(one.getBean(Prices.class).calls).hasSize(1));
	}

	/** Shards go only to an instance that has a handler for their topic. */
	@Test
	void shardsGoToInstancesWithAHandler() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		ConfigurableApplicationContext two = this.group.start(WithPrices.class, "two");
		Counter ofOne = new Counter();
		Counter ofTwo = new Counter();

		consumers(two).register(ofTwo);
		eventually(() -> assertThat(owners(one)).containsOnly("two").hasSize(SHARDS));
		consumers(one).register(ofOne);
		eventually(() -> assertThat(owners(one)).contains("one", "two"));
		assertThat(consumers(two).remove("orders")).succeedsWithin(PATIENCE);
		eventually(() -> assertThat(owners(one)).containsOnly("one").hasSize(SHARDS));

		send(one, 40);
		eventually(() -> assertThat(ofOne.calls).hasSize(40));
		assertThat(ofTwo.calls).isEmpty();
		assertThat(two.getBean(ShardCoordinator.class).isConnected()).as("stays a member").isTrue();
	}

	@Test
	void nextRegistrationContinuesWithOffsetAndState() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Counter first = new Counter();
		consumers(one).register(first);
		send(one, 20);
		eventually(() -> assertThat(first.calls).hasSize(20));

		assertThat(consumers(one).remove("orders")).succeedsWithin(PATIENCE);
		assertThat(first.revoked).as("the callbacks belong to the handler").hasSize(SHARDS);
		assertThat(consumers(one).registrations()).containsOnlyKeys("prices");
		assertThatIllegalArgumentException().isThrownBy(() -> consumers(one).stop("orders"));
		send(one, 20);
		eventually(() -> assertThat(owners(one)).isEmpty());
		Counter second = new Counter();
		consumers(one).register(second);

		eventually(() -> assertThat(second.calls).hasSize(20));
		assertThat(second.calls).as("after those of the first one")
			.allSatisfy((call) -> assertThat(call).isGreaterThan(20));
		assertThat(second.counted()).isEqualTo(40);
		assertThat(first.calls).hasSize(20);
	}

	@Test
	@Tag("proof")
	void handlerOfABeanIsRemovedAndReplaced() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		assertThat(consumers(one).remove("prices")).succeedsWithin(PATIENCE);
		Prices other = new Prices();
		sendPrice(one);

		consumers(one).register(other);
		eventually(() -> assertThat(other.calls).hasSize(1));
		one.pause();
		one.restart();
		sendPrice(one);

		eventually(() -> assertThat(other.calls).hasSize(2));
		assertThat(one.getBean(Prices.class).calls).isEmpty();
	}

	@Test
	@Tag("proof")
	void removalOutlastsAPauseOfTheContext() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Counter counter = new Counter();
		consumers(one).register(counter);
		assertThat(consumers(one).remove("prices")).succeedsWithin(PATIENCE);

		one.pause();
		one.restart();
		sendPrice(one);
		send(one, 20);

		eventually(() -> assertThat(counter.calls).hasSize(20));
		assertThat(consumers(one).registrations()).containsOnlyKeys("orders");
		assertThat(one.getBean(Prices.class).calls).isEmpty();
	}

	/** Until then it is no member of the group. */
	@Test
	@Tag("proof")
	void firstHandlerMakesTheInstanceAMember() {
		ConfigurableApplicationContext one = this.group.start(Empty.class, "one");
		assertThat(one.getBean(ShardCoordinator.class).isRunning()).isFalse();
		assertThat(health(one).getDetails()).containsEntry("member",
				"none: this instance has no @ShardConsumer method, or is not started");
		Counter counter = new Counter();

		consumers(one).register(counter);

		send(one, 20);
		eventually(() -> assertThat(counter.calls).hasSize(20));
		one.stop();
		consumers(one).register(new Prices());
		assertThat(one.getBean(ShardCoordinator.class).isRunning()).as("the context has stopped").isFalse();
	}

	/** Its shards would have an owner that does not consume them. */
	@Test
	void instanceWhoseFirstHandlerCannotStartIsNoMember() {
		ConfigurableApplicationContext one = this.group.start(WithUnwatchedSource.class, "one",
				"shardkeeper.topics.orders.source=memory", "shardkeeper.topics.prices.source=memory");
		Lines lines = new Lines();
		assertThatIllegalStateException().isThrownBy(() -> consumers(one).register(lines))
			.withMessage("not watched, caused by the test");
		assertThat(one.getBean(ShardCoordinator.class).isRunning()).isFalse();
		assertThat(consumers(one).registrations()).isEmpty();

		consumers(one).register(lines);

		eventually(() -> assertThat(shards(one, "lines")).hasSize(1));
	}

	@Test
	@Tag("proof")
	void registrationBeforeTheStartWaitsForIt() {
		ConfigurableApplicationContext one = this.group.start(Registering.class, "one",
				"shardkeeper.consumer.startup=after-readiness");
		Counter counter = one.getBean(HeldCounter.class).counter();

		send(one, 20);

		eventually(() -> assertThat(counter.calls).hasSize(20));
	}

	@Test
	@Tag("proof")
	void registrationWithoutAutoStartupIsStopped() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one",
				"shardkeeper.topics.orders.consumer.auto-startup=false");
		Counter counter = new Counter();
		consumers(one).register(counter);
		assertThat(consumers(one).registrations().get("orders").state()).isEqualTo(State.STOPPED);
		send(one, 20);

		consumers(one).start("orders");
		eventually(() -> assertThat(counter.calls).hasSize(20));
		assertThat(consumers(one).remove("orders")).succeedsWithin(PATIENCE);
		consumers(one).register(counter);
		assertThat(consumers(one).registrations().get("orders").state()).as("as at the first registration")
			.isEqualTo(State.STOPPED);
	}

	@Test
	@Tag("proof")
	void objectIsRegisteredForATopicThatItDoesNotName() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Anything anything = new Anything();

		consumers(one).register("orders", anything);

		send(one, 20);
		eventually(() -> assertThat(anything.calls).hasSize(20));
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(one).register(new Anything()))
			.withMessageContaining("names no topic");
	}

	/** The first one of its source, and of its kind. */
	@Test
	@Tag("proof")
	void handlerOfAnotherSourceIsRegistered() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Polls polls = new Polls();

		consumers(one).register(polls);

		eventually(() -> assertThat(polls.shards).hasSize(2));
		assertThat(consumers(one).remove("polls")).succeedsWithin(PATIENCE);
		assertThat(shardsOf(one, "polls")).isEmpty();
	}

	@Test
	@Tag("proof")
	void broadcastHandlerIsRegisteredAndRemoved() {
		ConfigurableApplicationContext one = this.group.start(Empty.class, "one",
				"shardkeeper.topics.prices.mode=broadcast");
		Counter counter = new Counter();
		Prices prices = new Prices();

		consumers(one).register(prices);
		sendPrice(one);
		eventually(() -> assertThat(prices.calls).hasSize(1));
		assertThat(one.getBean(ShardCoordinator.class).isRunning()).isFalse();
		consumers(one).register(counter);
		send(one, 20);
		eventually(() -> assertThat(counter.calls).hasSize(20));
		assertThat(consumers(one).remove("prices")).succeedsWithin(PATIENCE);
		sendPrice(one);
		assertThat(shardsOf(one, "prices")).isEmpty();

		Prices next = new Prices();
		consumers(one).register(next);
		eventually(() -> assertThat(next.calls).hasSize(1));
		assertThat(prices.calls).hasSize(1);
	}

	@Test
	void removalWaitsForARunningCallAndKeepsOtherHandlersAway() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Counter counter = new Counter();
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch mayReturn = new CountDownLatch(1);
		counter.onCall = () -> {
			begun.countDown();
			await(mayReturn);
		};
		consumers(one).register(counter);
		send(one, 1);
		await(begun);

		CompletableFuture<Void> removal = consumers(one).remove("orders");
		assertThat(removal).isNotDone();
		assertThat(consumers(one).remove("orders")).as("again").isNotDone();
		assertThatIllegalStateException().isThrownBy(() -> consumers(one).register(new Counter()))
			.withMessageContaining("The handler of the topic 'orders' was removed", "ShardConsumers.remove");
		mayReturn.countDown();

		assertThat(removal).succeedsWithin(PATIENCE);
		Counter next = new Counter();
		consumers(one).register(next);
		send(one, 1);
		eventually(() -> assertThat(next.calls).containsExactly(2));
		assertThat(counter.calls).as("is committed, and not repeated").containsExactly(1);
	}

	/** The next handler would be called beside it. */
	@Test
	@Tag("proof")
	void removalAfterAStopWaitsForACallThatHasNotReturned() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one",
				"spring.lifecycle.timeout-per-shutdown-phase=1s");
		Counter counter = new Counter();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Void> mayReturn = new CompletableFuture<>();
		counter.onCall = () -> {
			begun.countDown();
			// Is not interrupted.
			mayReturn.join();
		};
		consumers(one).register(counter);
		send(one, 1);
		await(begun);
		one.stop();

		CompletableFuture<Void> removal = consumers(one).remove("orders");

		assertThat(removal).isNotDone();
		assertThatIllegalStateException().isThrownBy(() -> consumers(one).register(new Counter()));
		mayReturn.complete(null);
		assertThat(removal).succeedsWithin(PATIENCE);
		consumers(one).register(new Counter());
	}

	@Test
	@Tag("proof")
	void handlerRemovesItselfAndRegistersAnother() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Counter first = new Counter();
		Counter second = new Counter();
		first.onCall = () -> consumers(one).remove("orders").thenRun(() -> consumers(one).register(second));
		consumers(one).register(first);
		send(one, 1);

		eventually(() -> assertThat(first.calls).hasSize(1));
		send(one, 1);
		eventually(() -> assertThat(second.calls).hasSize(1));
	}

	@Test
	void registrationsThatCannotBeAreRefusedWhole() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(one).register(new Prices()))
			.withMessageContaining("for the topic 'prices', which has a handler already", "ShardConsumers.remove");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(one).register("unknown", new Anything()))
			.withMessageContaining("names the topic 'unknown', which is not configured",
					"Add 'shardkeeper.topics.[unknown].shards'");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(one).register(new OrdersAndPrices()))
			.withMessageContaining("'prices'");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(one).register("orders", new OrdersAndPrices()))
			.withMessageContaining("has two @ShardConsumer methods");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(one).register("no handler"))
			.withMessageContaining("java.lang.String has no @ShardConsumer method");
		assertThatIllegalArgumentException().isThrownBy(() -> consumers(one).remove("orders"))
			.withMessageContaining("it has handlers of [prices]");
		assertThat(consumers(one).registrations()).containsOnlyKeys("prices");
	}

	/** An instance that sends only may have other settings of consumers. */
	@Test
	@Tag("proof")
	void topicWithOtherSettingsThanOnAnotherInstanceIsRefused() {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		consumers(one).register(new Counter());
		ConfigurableApplicationContext two = this.group.start(WithPrices.class, "two",
				"shardkeeper.topics.orders.mode=broadcast");
		Counter counter = new Counter();

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> consumers(two).register(counter))
			.withMessageContaining("'shardkeeper.topics.orders.mode' is 'broadcast' here, but 'coordinated' on one");
		assertThat(consumers(two).registrations()).containsOnlyKeys("prices");
		assertThat(consumers(one).remove("orders")).succeedsWithin(PATIENCE);
		// It is announced until the next renewal.
		one.close();
		consumers(two).register(counter);
		send(two, 20);
		eventually(() -> assertThat(counter.calls).hasSize(20));
	}

	/** Every record is handled, whichever instance has its shard at that moment. */
	@Test
	void handlersComeAndGoOnManyThreadsWhileTheContextStopsAndStarts() throws Exception {
		ConfigurableApplicationContext one = this.group.start(WithPrices.class, "one");
		Counter counter = new Counter();
		consumers(one).register(counter);
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<CompletableFuture<Void>> changes = IntStream.range(0, 4)
				.mapToObj((thread) -> CompletableFuture.runAsync(() -> change(one, counter), threads))
				.toList();
			for (int i = 0; i < 3; i++) {
				send(one, 20);
				one.pause();
				one.restart();
			}
			CompletableFuture.allOf(changes.toArray(CompletableFuture[]::new)).get(4, TimeUnit.MINUTES);
		}
		finally {
			threads.shutdownNow();
		}
		register(one, counter);

		eventually(
				() -> assertThat(counter.calls).contains(IntStream.rangeClosed(1, 60).boxed().toArray(Integer[]::new)));
		eventually(() -> assertThat(counter.counted()).isEqualTo(60));
	}

	private static void change(ConfigurableApplicationContext instance, Counter counter) {
		for (int i = 0; i < 10; i++) {
			try {
				consumers(instance).remove("orders").orTimeout(1, TimeUnit.MINUTES).join();
			}
			catch (IllegalArgumentException ex) {
				assertThat(ex).hasMessageContaining("consumes the topic 'orders'");
			}
			register(instance, counter);
		}
	}

	/** Another thread may have been faster, or may be removing it. */
	private static void register(ConfigurableApplicationContext instance, Counter counter) {
		try {
			consumers(instance).register(counter);
		}
		catch (ShardkeeperConfigurationException ex) {
			assertThat(ex).hasMessageContaining("has a handler already");
		}
		catch (IllegalStateException ex) {
			assertThat(ex).hasMessageContaining("was removed");
		}
	}

	private static ShardConsumers consumers(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardConsumers.class);
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	private static Set<ShardId> shards(ConfigurableApplicationContext instance, String topic) {
		return consumers(instance).registrations().get(topic).shards();
	}

	private static List<ShardId> shardsOf(ConfigurableApplicationContext instance, String topic) {
		return instance.getBean(ShardConsumerRunner.class)
			.allShards()
			.stream()
			.filter((shard) -> shard.topic().equals(topic))
			.toList();
	}

	/** Returns the instance that owns each owned shard of the orders. */
	private static List<String> owners(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class)
			.report()
			.shards()
			.stream()
			.filter((shard) -> shard.topic().equals("orders"))
			.map(ShardReport::owner)
			.filter((owner) -> owner != null)
			.map((owner) -> owner.split("~")[0])
			.toList();
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

	/** Counts orders in the state. */
	static class Counter {

		private final List<Integer> calls = new CopyOnWriteArrayList<>();

		private final Map<String, Long> counts = new ConcurrentHashMap<>();

		private final List<ShardId> revoked = new CopyOnWriteArrayList<>();

		private volatile Runnable onCall = () -> {
		};

		@ShardConsumer("orders")
		void count(Integer order, ShardContext shard, ShardState state) {
			this.onCall.run();
			this.calls.add(order);
			this.counts.merge(shard.shard().id(), state.increment("orders", 1), Math::max);
		}

		@OnShardRevoked
		void revoked(ShardContext shard) {
			this.revoked.add(shard.shard());
		}

		long counted() {
			return this.counts.values().stream().mapToLong(Long::longValue).sum();
		}

	}

	static class Prices {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		@ShardConsumer("prices")
		void handle(String price) {
			this.calls.add(price);
		}

	}

	static class Lines {

		@ShardConsumer("lines")
		void handle(String line) {
		}

	}

	/** Has no records, and cannot be watched the first time. */
	static class UnwatchedSource implements ShardSource {

		private final AtomicBoolean watched = new AtomicBoolean();

		@Override
		public Map<String, TopicShards> topics() {
			return Map.of("lines", TopicShards.ids(List.of("one")));
		}

		@Override
		public Watch watch(Runnable onChange) {
			if (!this.watched.getAndSet(true)) {
				throw new IllegalStateException("not watched, caused by the test");
			}
			return () -> {
			};
		}

		@Override
		public ShardReader openReader() {
			return new PollingShardReader((shard, after) -> List.of(), Duration.ofSeconds(1));
		}

		@Override
		public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
			return shards.stream().collect(Collectors.toMap(Function.identity(), (shard) -> NumericOffsets.of(0)));
		}

		@Override
		public void close() {
		}

	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class WithUnwatchedSource {

		@Bean
		UnwatchedSource unwatchedSource() {
			return new UnwatchedSource();
		}

	}

	static class OrdersAndPrices {

		@ShardConsumer("orders")
		void order(Integer order) {
		}

		@ShardConsumer("prices")
		void price(String price) {
		}

	}

	static class Anything {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		@ShardConsumer({})
		void handle(String text) {
			this.calls.add(text);
		}

	}

	static class Polls {

		private final Set<ShardId> shards = ConcurrentHashMap.newKeySet();

		@ShardConsumer(value = "polls", interval = "10ms")
		void poll(ShardContext shard) {
			this.shards.add(shard.shard());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Empty {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class WithPrices {

		@Bean
		Prices prices() {
			return new Prices();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Registering {

		@Bean
		ApplicationRunner registering(ShardConsumers consumers, HeldCounter held) {
			return (arguments) -> consumers.register(held.counter);
		}

		@Bean
		HeldCounter held() {
			return new HeldCounter(new Counter());
		}

	}

	record HeldCounter(Counter counter) {

	}

}
