package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Topics of which every instance consumes every shard, on a real Redis.
 */
class BroadcastTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final String EACH_START_BEGINS = "shardkeeper.topics.prices.resume=false";

	private static final ShardId FIRST = ShardId.of("prices", 0);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.prices.shards=3",
			"shardkeeper.topics.prices.mode=broadcast", "shardkeeper.topics.prices.resume=true",
			"shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.consumer.commit.interval=100ms");

	private final Map<ConfigurableApplicationContext, PriceHandler> handlers = new IdentityHashMap<>();

	private ShardTemplate template;

	@BeforeEach
	void startSender() {
		this.template = start(Sender.class, "sender").getBean(ShardTemplate.class);
	}

	@Test
	void everyInstanceHandlesEveryRecordInOrder() {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		List<String> sent = send(0, 200);

		assertThat(await(handler(one), 200)).containsExactlyInAnyOrderElementsOf(sent);
		assertThat(await(handler(two), 200)).containsExactlyInAnyOrderElementsOf(sent);
		assertThat(handler(one).outOfOrder).isEmpty();
		assertThat(handler(two).outOfOrder).isEmpty();
	}

	/** Like the cached contexts of a test suite. */
	@Test
	@Tag("proof")
	@Promise("Automatic recovery")
	void contextsWithoutIdDoNotTakeOverFromEachOther() {
		List<ConfigurableApplicationContext> contexts = List.of(start("", EACH_START_BEGINS),
				start("", EACH_START_BEGINS));
		for (int sent = 10; sent <= 20; sent += 10) {
			send(sent - 10, 10);
			for (ConfigurableApplicationContext context : contexts) {
				await(handler(context), sent);
				int total = IntStream.range(0, sent).sum();
				patiently().until(() -> sum(context) == total);
			}
		}

		assertThat(contexts).allSatisfy((context) -> {
			assertThat(handler(context).handled).hasSize(20);
			assertThat(context.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	@Tag("proof")
	void restartedInstanceResumesUnderItsId() {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		send(0, 20);
		await(handler(one), 20);
		await(handler(two), 20);
		assertThat(handler(one).assigned).containsExactlyInAnyOrder("prices/0", "prices/1", "prices/2");
		one.close();
		assertThat(handler(one).revoked).containsExactlyInAnyOrder("prices/0", "prices/1", "prices/2");
		List<String> later = send(20, 10);
		await(handler(two), 30);

		ConfigurableApplicationContext again = start("one");

		assertThat(await(handler(again), 10)).containsExactlyInAnyOrderElementsOf(later);
		// Its own state, including earlier records.
		patiently().until(() -> sum(again) == IntStream.range(0, 30).sum());
		patiently().until(() -> sum(two) == IntStream.range(0, 30).sum());
		assertThat(handler(again).handled).hasSize(10);
	}

	/** Its handler has filled a map, which is empty after a restart. */
	@Test
	void everyStartBeginsAtTheFirstRecordUnlessItResumes() {
		List<String> sent = send(0, 20);
		ConfigurableApplicationContext one = start("one", EACH_START_BEGINS, "handler.refuses=7");
		await(handler(one), 19);
		patiently().until(() -> letters(one).size() == 1);
		one.close();

		ConfigurableApplicationContext again = start("one", EACH_START_BEGINS);

		assertThat(await(handler(again), 20)).containsExactlyInAnyOrderElementsOf(sent);
		patiently().until(() -> sum(again) == IntStream.range(0, 20).sum());
		assertThat(letters(again)).isEmpty();
		assertThat(keys(again, "*~one*")).as("nothing is left in Redis").isEmpty();
	}

	@Test
	@Tag("proof")
	void everyStartBeginsAtTheLatestRecordUnlessItResumes() {
		String[] latest = { EACH_START_BEGINS, "shardkeeper.topics.prices.start=latest" };
		send(0, 5);
		awaitNextMillisecond();
		ConfigurableApplicationContext one = start("one", latest);
		List<String> seen = send(5, 5);
		assertThat(await(handler(one), 5)).containsExactlyInAnyOrderElementsOf(seen);
		one.close();
		send(10, 5);
		awaitNextMillisecond();

		ConfigurableApplicationContext again = start("one", latest);
		List<String> seenAgain = send(15, 5);

		assertThat(await(handler(again), 5)).containsExactlyInAnyOrderElementsOf(seenAgain);
	}

	@Test
	@Tag("proof")
	void processesUnderOneIdDoNotDisturbEachOtherUnlessTheyResume() {
		ConfigurableApplicationContext first = start("one", EACH_START_BEGINS);
		ConfigurableApplicationContext second = start("one", EACH_START_BEGINS);
		List<String> sent = send(0, 20);

		assertThat(await(handler(first), 20)).containsExactlyInAnyOrderElementsOf(sent);
		assertThat(await(handler(second), 20)).containsExactlyInAnyOrderElementsOf(sent);
		patiently().until(() -> sum(first) == sum(second) && sum(first) == IntStream.range(0, 20).sum());
		assertThat(first.getBean(ShardConsumerRunner.class).problems()).isEmpty();
		assertThat(second.getBean(ShardConsumerRunner.class).problems()).isEmpty();
	}

	@Test
	@Tag("proof")
	void crashedInstanceResumesAfterItsLastCommit() {
		ConfigurableApplicationContext one = start("one");
		send(0, 20);
		await(handler(one), 20);
		patiently().until(() -> sum(one) == IntStream.range(0, 20).sum());

		// The same id begins while the first one has not said goodbye.
		ConfigurableApplicationContext again = start("one");
		send(20, 10);

		patiently().until(() -> sum(again) == IntStream.range(0, 30).sum());
		assertThat(handler(again).handled).hasSize(10);
	}

	@Test
	@Tag("proof")
	void newInstanceBeginsWithFirstRecord() {
		List<String> sent = send(0, 10);
		ConfigurableApplicationContext one = start("one");
		await(handler(one), 10);

		assertThat(await(handler(start("two")), 10)).containsExactlyInAnyOrderElementsOf(sent);
	}

	@Test
	@Tag("proof")
	void latestIsFirstConsumptionOfInstanceId() {
		String latest = "shardkeeper.topics.prices.start=latest";
		send(0, 5);
		awaitNextMillisecond();
		ConfigurableApplicationContext one = start("one", latest);
		List<String> seenByOne = send(5, 5);
		await(handler(one), 5);
		awaitNextMillisecond();
		ConfigurableApplicationContext two = start("two", latest);
		List<String> seenByBoth = send(10, 5);

		assertThat(await(handler(two), 5)).containsExactlyInAnyOrderElementsOf(seenByBoth);
		assertThat(await(handler(one), 10)).containsAll(seenByOne).containsAll(seenByBoth).hasSize(10);
		two.close();
		List<String> missed = send(15, 5);
		assertThat(await(handler(start("two", latest)), 5)).containsExactlyInAnyOrderElementsOf(missed);
	}

	@Test
	@Tag("proof")
	void groupHasNoShardsOfBroadcastTopics() {
		ConfigurableApplicationContext one = start("one");
		send(0, 10);
		await(handler(one), 10);

		assertThat(one.getBean(GroupReporter.class).report().members()).as("nothing is shared out").isEmpty();
		assertThat(one.getBean(GroupReporter.class).report().shards()).isEmpty();
		assertThat(one.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
		assertThat(keys(one, "*:checkpoint")).isNotEmpty()
			.allMatch((key) -> key.startsWith(this.instances.name() + ":{" + this.instances.name() + "~one/prices/"));
	}

	@Test
	@Tag("proof")
	void instanceConsumesBroadcastAndCoordinatedTopics() {
		String[] shared = { "shardkeeper.topics.orders.shards=4" };
		ConfigurableApplicationContext one = start(Both.class, "one", shared);
		ConfigurableApplicationContext two = start(Both.class, "two", shared);
		ConfigurableApplicationContext sender = start(Sender.class, "sender-of-both", shared);
		ShardTemplate both = sender.getBean(ShardTemplate.class);
		List<String> sent = new ArrayList<>();
		for (int number = 0; number < 40; number++) {
			both.send("orders", "key-" + number, Integer.toString(number));
			both.send("prices", "key-" + number, Integer.toString(number));
			sent.add(Integer.toString(number));
		}

		assertThat(await(handler(one), 40)).containsExactlyInAnyOrderElementsOf(sent);
		assertThat(await(handler(two), 40)).containsExactlyInAnyOrderElementsOf(sent);
		patiently().untilAsserted(() -> {
			List<String> orders = new ArrayList<>(one.getBean(OrderHandler.class).handled);
			orders.addAll(two.getBean(OrderHandler.class).handled);
			assertThat(orders).containsExactlyInAnyOrderElementsOf(sent);
		});
		assertThat(one.getBean(GroupReporter.class).report().shards()).hasSize(4)
			.allMatch((shard) -> shard.topic().equals("orders"));
	}

	@Test
	@Tag("proof")
	void secondProcessUnderSameIdTakesOver() {
		ConfigurableApplicationContext first = start("one");
		send(0, 20);
		await(handler(first), 20);
		patiently().until(() -> sum(first) == IntStream.range(0, 20).sum());
		ConfigurableApplicationContext second = start("one");
		patiently().until(() -> handler(second).assigned.size() == 3);
		List<String> later = send(20, 30);

		assertThat(await(handler(second), 30)).containsExactlyInAnyOrderElementsOf(later);
		patiently().until(() -> first.getBean(ShardConsumerRunner.class).problems().size() == 3);
		assertThat(first.getBean(ShardConsumerRunner.class).problems().values()).allSatisfy(
				(problem) -> assertThat(problem).contains("with the instance id 'one'", "'shardkeeper.instance-id'"));
		assertThat(first.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.DOWN);
		assertThat(handler(first).revoked).hasSize(3);
		patiently().until(() -> sum(second) == IntStream.range(0, 50).sum());
		assertThat(second.getBean(ShardConsumerRunner.class).problems()).isEmpty();
		int seenByFirst = handler(first).handled.size();
		send(50, 10);
		await(handler(second), 40);
		assertThat(handler(first).handled).hasSize(seenByFirst);
	}

	/** Like the cached contexts of tests. */
	@Test
	@Tag("proof")
	void contextsOfOneProcessAreSeparateInstances() {
		ConfigurableApplicationContext first = start("", EACH_START_BEGINS);
		ConfigurableApplicationContext second = start("", EACH_START_BEGINS);
		patiently().until(() -> handler(first).assigned.size() == 3 && handler(second).assigned.size() == 3);
		List<String> sent = send(0, 30);

		assertThat(await(handler(second), 30)).containsExactlyInAnyOrderElementsOf(sent);
		assertThat(await(handler(first), 30)).containsExactlyInAnyOrderElementsOf(sent);
		patiently().until(() -> sum(first) == sum(second) && sum(first) == IntStream.range(0, 30).sum());
		assertThat(first.getBean(ShardConsumerRunner.class).problems()).isEmpty();
		assertThat(second.getBean(ShardConsumerRunner.class).problems()).isEmpty();
	}

	@Test
	@Tag("proof")
	void laterProcessWithEarlierClockTakesOver() {
		ConfigurableApplicationContext first = start("one");
		send(0, 20);
		await(handler(first), 20);
		first.close();
		long ahead = (Instant.now().getEpochSecond() + 86_400) * 1_000_000;
		StringRedisTemplate redis = this.instances.started().get(0).getBean(StringRedisTemplate.class);
		keys(this.instances.started().get(0), "*:checkpoint")
			.forEach((key) -> redis.opsForHash().put(key, "fence", Long.toString(ahead)));

		ConfigurableApplicationContext second = start("one");
		List<String> later = send(20, 10);

		assertThat(await(handler(second), 10)).containsExactlyInAnyOrderElementsOf(later);
		assertThat(handler(second).tokens).allMatch((token) -> token > ahead);
	}

	@Test
	void everyInstanceHasItsOwnDeadLetters() {
		ConfigurableApplicationContext one = start("one", "handler.refuses=7");
		ConfigurableApplicationContext two = start("two");
		send(0, 10);
		patiently().until(() -> letters(one).size() == 1);
		await(handler(two), 10);

		assertThat(letters(one)).extracting((letter) -> new String(letter.payload())).containsExactly("7");
		assertThat(letters(two)).isEmpty();
		handler(one).refuses = "";
		DeadLetters letters = one.getBean(DeadLetters.class);
		assertThat(letters.sendBack(letters(one).get(0).id()).letters()).isEqualTo(1);
		assertThat(await(handler(one), 10)).contains("7");
		patiently().until(() -> letters.waiting("prices").values().stream().allMatch((count) -> count == 0));
		assertThat(letters(one)).isEmpty();
	}

	@Test
	@Tag("proof")
	void resetAffectsOnlyOwnInstance() {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		List<String> sent = send(0, 10);
		for (ConfigurableApplicationContext instance : List.of(one, two)) {
			await(handler(instance), 10);
			patiently().until(() -> sum(instance) == IntStream.range(0, 10).sum());
			handler(instance).last.clear();
			instance.getBean(ShardPositions.class).reset("prices", StartPosition.EARLIEST);

			assertThat(await(handler(instance), 20).subList(10, 20)).containsExactlyInAnyOrderElementsOf(sent);
			patiently().until(() -> sum(instance) == IntStream.range(0, 10).sum());
		}
		assertThat(handler(one).handled).as("the other one was not").hasSize(20);
	}

	@Test
	@Tag("proof")
	void stopWaitsForRunningCallAndCommits() throws InterruptedException {
		ConfigurableApplicationContext one = start("one", "shardkeeper.consumer.commit.interval=1h",
				"handler.pauses=300");
		send(0, 6);
		await(handler(one), 1);
		one.close();
		int handled = handler(one).handled.size();
		assertThat(handled).isBetween(1, 5);

		ConfigurableApplicationContext again = start("one");

		await(handler(again), 6 - handled);
		patiently().until(() -> sum(again) == IntStream.range(0, 6).sum());
		assertThat(handler(again).handled).hasSize(6 - handled).doesNotContainAnyElementsOf(handler(one).handled);
	}

	private static List<DeadLetter> letters(ConfigurableApplicationContext context) {
		return context.getBean(DeadLetters.class).list(DeadLetterFilter.topic("prices"), null, 100).letters();
	}

	private static long sum(ConfigurableApplicationContext context) {
		ShardStateReader reader = context.getBean(ShardStateReader.class);
		return IntStream.range(0, 3)
			.mapToObj((shard) -> reader.read(ShardId.of("prices", shard), Long.class))
			.mapToLong((state) -> state.getOrDefault("sum", 0L))
			.sum();
	}

	private Set<String> keys(ConfigurableApplicationContext context, String pattern) {
		return context.getBean(StringRedisTemplate.class).keys(this.instances.name() + pattern);
	}

	/** Waits for the next millisecond of this machine's clock. */
	private static void awaitNextMillisecond() {
		long before = Instant.now().toEpochMilli();
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> Instant.now().toEpochMilli() > before);
	}

	private List<String> send(int from, int count) {
		List<ShardTemplate.Outgoing> records = new ArrayList<>();
		List<String> payloads = new ArrayList<>();
		for (int number = from; number < from + count; number++) {
			records.add(new ShardTemplate.Outgoing("key-" + number, Integer.toString(number)));
			payloads.add(Integer.toString(number));
		}
		this.template.sendAll("prices", records);
		return payloads;
	}

	/** Also of one that was closed. */
	private PriceHandler handler(ConfigurableApplicationContext context) {
		return this.handlers.get(context);
	}

	private static List<String> await(PriceHandler handler, int records) {
		patiently().untilAsserted(() -> assertThat(handler.handled).hasSizeGreaterThanOrEqualTo(records));
		return handler.handled;
	}

	private static ConditionFactory patiently() {
		return Awaitility.await().atMost(PATIENCE);
	}

	private ConfigurableApplicationContext start(String name, String... properties) {
		return start(Consumer.class, name, properties);
	}

	private ConfigurableApplicationContext start(Class<?> application, String name, String... properties) {
		ConfigurableApplicationContext context = this.instances.start(application, name, properties);
		context.getBeanProvider(PriceHandler.class).ifAvailable((handler) -> this.handlers.put(context, handler));
		return context;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sender {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Consumer {

		@Bean
		PriceHandler handler(@Value("${handler.refuses:}") String refuses, @Value("${handler.pauses:0}") long pause) {
			return new PriceHandler(refuses, pause);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Both extends Consumer {

		@Bean
		OrderHandler orders() {
			return new OrderHandler();
		}

	}

	static class OrderHandler {

		final List<String> handled = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(String order) {
			this.handled.add(order);
		}

	}

	static class PriceHandler {

		final List<String> handled = new CopyOnWriteArrayList<>();

		final List<String> outOfOrder = new CopyOnWriteArrayList<>();

		final List<String> assigned = new CopyOnWriteArrayList<>();

		final List<String> revoked = new CopyOnWriteArrayList<>();

		final List<Long> tokens = new CopyOnWriteArrayList<>();

		private final Map<ShardId, Integer> last = new ConcurrentHashMap<>();

		private final CountDownLatch never = new CountDownLatch(1);

		volatile String refuses;

		private final long pause;

		PriceHandler(String refuses, long pause) {
			this.refuses = refuses;
			this.pause = pause;
		}

		@ShardConsumer("prices")
		void handle(ShardRecord<String> price, ShardContext shard, ShardState state) throws InterruptedException {
			this.never.await(this.pause, TimeUnit.MILLISECONDS);
			if (price.payload().equals(this.refuses)) {
				throw new IllegalStateException("refused");
			}
			int number = Integer.parseInt(price.payload());
			Integer before = this.last.put(shard.shard(), number);
			if (before != null && before >= number) {
				this.outOfOrder.add(before + " before " + number);
			}
			state.put("sum", state.get("sum", Long.class).orElse(0L) + number);
			this.tokens.add(shard.token().value());
			assertThat(shard.isHeld()).isTrue();
			this.handled.add(price.payload());
		}

		@OnShardAssigned
		void assigned(ShardContext shard) {
			this.assigned.add(shard.shard().toString());
		}

		@OnShardRevoked
		void revoked(ShardContext shard) {
			this.revoked.add(shard.shard().toString());
		}

	}

}
