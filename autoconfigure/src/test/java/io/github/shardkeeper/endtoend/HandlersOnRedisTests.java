package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.sdk.trace.data.SpanData;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Min;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.RecordTooLargeException;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.observation.TestTracing;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Handlers of every shape and their commits, in whole applications.
 */
class HandlersOnRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=2",
			"shardkeeper.consumer.retry.initial-interval=1ms");

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void payloadsAndHeadersAreConvertedAndValidatedBeforeCall() {
		Annotated handler = new Annotated();
		ConfigurableApplicationContext one = start("one", handler);
		send(one, new Outgoing("ann", new Order(0)).withHeader("attempt", "1"));
		send(one, new Outgoing("ann", new Order(2)));
		send(one, new Outgoing("ann", new Order(3)).withHeader("attempt", "often"));
		Appended good = send(one, new Outgoing("ann", new Order(4)).withHeader("attempt", "7"));

		eventually(() -> assertThat(handler.handled)
			.containsExactly("Order[amount=4] of ann in shard 0 at %s, attempt 7".formatted(good.offset())));
		eventually(() -> assertThat(letters(one)).extracting(DeadLetter::exception)
			.satisfiesExactly((first) -> assertThat(first).contains("not valid", "amount"),
					(second) -> assertThat(second).contains("attempt"),
					(third) -> assertThat(third).contains("often")));
		assertThat(letters(one)).extracting(DeadLetter::attempts).as("no call was made").containsOnly(0);
	}

	@Test
	@Tag("proof")
	void unacknowledgedRecordsAreHandledAgainAfterRestart() {
		String manual = "shardkeeper.consumer.commit.mode=manual";
		ByHand first = new ByHand();
		ConfigurableApplicationContext one = start("one", first, manual);
		List<Appended> sent = one.getBean(ShardTemplate.class)
			.sendAll("orders", List.of(new Outgoing("ann", "a"), new Outgoing("ann", "b"), new Outgoing("ann", "c"),
					new Outgoing("ann", "d")));
		eventually(() -> assertThat(first.handled).containsExactly("a", "b", "c", "d"));
		first.acknowledgments.get(1).acknowledge();
		first.acknowledgments.get(0).acknowledge();
		eventually(() -> assertThat(checkpoint(one))
			.isEqualTo(new Checkpoint(sent.get(1).offset(), Map.of("a", "1", "b", "1"))));
		one.close();
		assertThat(first.handled).hasSize(4);

		ByHand second = new ByHand();
		ConfigurableApplicationContext two = start("two", second, manual);
		eventually(() -> assertThat(second.handled).containsExactly("c", "d"));
		// From a former owner.
		first.acknowledgments.get(3).acknowledge();
		second.acknowledgments.get(0).acknowledge();
		eventually(() -> assertThat(checkpoint(two).offset()).isEqualTo(sent.get(2).offset()));
		second.acknowledgments.get(1).acknowledge();
		eventually(() -> assertThat(checkpoint(two))
			.isEqualTo(new Checkpoint(sent.get(3).offset(), Map.of("a", "1", "b", "1", "c", "1", "d", "1"))));
	}

	@Test
	void batchesAreCommittedWithStateAndFailingRecordIsIsolated() {
		Lists handler = new Lists();
		String[] properties = { "shardkeeper.consumer.commit.mode=batch", "shardkeeper.consumer.batch-size=4" };
		ConfigurableApplicationContext one = start("one", handler, properties);
		List<Outgoing> records = List.of(new Outgoing("ann", "a"), new Outgoing("bob", "b"),
				new Outgoing("cyd", "poison"), new Outgoing("ann", "a"), new Outgoing("bob", "b"));
		List<Appended> sent = one.getBean(ShardTemplate.class).sendAll("orders", records);

		eventually(() -> assertThat(checkpoint(one))
			.isEqualTo(new Checkpoint(sent.get(4).offset(), Map.of("ann/a", "2", "bob/b", "2"))));
		assertThat(letters(one)).singleElement().satisfies((letter) -> {
			assertThat(letter.offset()).isEqualTo(sent.get(2).offset());
			assertThat(letter.exception()).contains("cannot take poison");
		});
		assertThat(handler.longest).isBetween(1, 4);
		one.close();
		ConfigurableApplicationContext two = start("two", new Lists(), properties);
		Appended last = send(two, new Outgoing("ann", "a"));
		eventually(() -> assertThat(checkpoint(two))
			.isEqualTo(new Checkpoint(last.offset(), Map.of("ann/a", "3", "bob/b", "2"))));
	}

	/**
	 * The first one is not done: neither does it hold up others, nor are they repeated.
	 */
	@Test
	@Tag("proof")
	void recordsDoneOutOfOrderAreNotHandledAgainAfterRestart() {
		String none = "shardkeeper.consumer.ordering=none";
		Blocking first = new Blocking("a1");
		ConfigurableApplicationContext one = start("one", first, none,
				"spring.lifecycle.timeout-per-shutdown-phase=2s");
		List<Appended> sent = one.getBean(ShardTemplate.class)
			.sendAll("orders", List.of(new Outgoing("a", "a1"), new Outgoing("a", "a2"), new Outgoing("b", "b1")));
		eventually(() -> {
			assertThat(checkpoint(one).ahead()).containsOnly(sent.get(1).offset(), sent.get(2).offset());
			assertThat(checkpoint(one).state()).isEqualTo(Map.of("a", "1", "b", "1"));
		});
		one.close();
		assertThat(first.handled).containsExactlyInAnyOrder("a2", "b1");

		Blocking second = new Blocking("nothing");
		ConfigurableApplicationContext two = start("two", second, none);
		eventually(() -> assertThat(checkpoint(two))
			.isEqualTo(new Checkpoint(sent.get(2).offset(), Map.of("a", "2", "b", "1"))));
		assertThat(second.handled).containsExactly("a1");
	}

	@Test
	void keyOrderingKeepsOrderPerKeyOnly() {
		Blocking handler = new Blocking("a1");
		ConfigurableApplicationContext one = start("one", handler, "shardkeeper.consumer.ordering=key");
		List<Appended> sent = one.getBean(ShardTemplate.class)
			.sendAll("orders", List.of(new Outgoing("a", "a1"), new Outgoing("a", "a2"), new Outgoing("b", "b1"),
					new Outgoing("b", "b2")));
		eventually(() -> assertThat(checkpoint(one).ahead()).containsOnly(sent.get(2).offset(), sent.get(3).offset()));
		assertThat(handler.handled).containsExactly("b1", "b2");
		handler.release.countDown();

		eventually(() -> assertThat(checkpoint(one))
			.isEqualTo(new Checkpoint(sent.get(3).offset(), Map.of("a", "2", "b", "2"))));
		assertThat(handler.handled).containsExactly("b1", "b2", "a1", "a2");
	}

	@Test
	@Tag("proof")
	void loopIsCalledRepeatedlyAndNextOwnerResumesFromItsState() {
		String twoShards = "shardkeeper.topics.orders.shards=2";
		Loop first = new Loop();
		ConfigurableApplicationContext one = start("one", first, twoShards);
		eventually(() -> assertThat(first.counts).hasSize(2)
			.allSatisfy((shard, counts) -> assertThat(counts).hasSizeGreaterThan(3)));
		one.close();
		Map<ShardId, List<Long>> before = new TreeMap<>(first.counts);

		Loop second = new Loop();
		start("two", second, twoShards);
		eventually(() -> assertThat(second.counts).hasSize(2));
		before.forEach((shard, counts) -> {
			assertThat(counts).as("each call sees the writes of the one before").isEqualTo(countedFrom(1, counts));
			List<Long> after = List.copyOf(second.counts.get(shard));
			assertThat(after).as("the last write was committed").isEqualTo(countedFrom(counts.size() + 1, after));
		});
	}

	private static List<Long> countedFrom(long first, List<Long> like) {
		return LongStream.range(first, first + like.size()).boxed().toList();
	}

	@Test
	void tooLargeRecordBecomesDeadLetterWithoutCall() {
		ByHand handler = new ByHand();
		ConfigurableApplicationContext one = start("one", handler, "shardkeeper.consumer.commit.mode=manual",
				"shardkeeper.max-record-size=1KB");
		ConfigurableApplicationContext other = this.instances.start(Application.class, "other");
		String large = "x".repeat(1022);
		Outgoing tooLarge = new Outgoing("ann", large);
		assertThatExceptionOfType(RecordTooLargeException.class).isThrownBy(() -> send(one, tooLarge));
		Appended refused = send(other, tooLarge);
		send(one, new Outgoing("ann", "y".repeat(500)));

		eventually(() -> assertThat(letters(one)).singleElement().satisfies((letter) -> {
			assertThat(letter.offset()).isEqualTo(refused.offset());
			assertThat(letter.text()).isEqualTo(large);
			assertThat(letter.attempts()).isZero();
			assertThat(letter.exception()).contains("shardkeeper.max-record-size");
		}));
		eventually(() -> assertThat(handler.handled).containsExactly("y".repeat(500)));
	}

	/** The trace is in the record's headers, so it has to come through the stream. */
	@Test
	void callIsObservedInTraceOfSender() {
		try (TestTracing tracing = new TestTracing()) {
			Observed handler = new Observed(tracing.registry());
			SpringApplicationBuilder application = application(handler);
			application.initializers((context) -> ((GenericApplicationContext) context)
				.registerBean(ObservationRegistry.class, tracing::registry));
			ConfigurableApplicationContext one = this.instances.start(application, "one",
					"shardkeeper.observations.enabled=true");
			send(one, new Outgoing("ann", "a"));

			eventually(() -> assertThat(handler.observations).containsExactly("shardkeeper.consume"));
			// Beside these are those of the client's commands.
			eventually(() -> assertThat(tracing.spans()).extracting(SpanData::getName)
				.containsOnlyOnce("send orders", "process orders"));
			SpanData send = span(tracing, "send orders");
			SpanData process = span(tracing, "process orders");
			assertThat(process.getParentSpanId()).isEqualTo(send.getSpanId());
			assertThat(process.getTraceId()).isEqualTo(send.getTraceId());
			one.close();
		}
	}

	private static SpanData span(TestTracing tracing, String name) {
		return tracing.spans().stream().filter((span) -> span.getName().equals(name)).findFirst().orElseThrow();
	}

	private ConfigurableApplicationContext start(String name, Object handler, String... properties) {
		return this.instances.start(application(handler), name, properties);
	}

	private static SpringApplicationBuilder application(Object handler) {
		return new SpringApplicationBuilder(Application.class)
			.initializers((context) -> register((GenericApplicationContext) context, handler));
	}

	@SuppressWarnings("unchecked")
	private static <T> void register(GenericApplicationContext context, T handler) {
		context.registerBean((Class<T>) handler.getClass(), () -> handler);
	}

	private static Appended send(ConfigurableApplicationContext instance, Outgoing outgoing) {
		return instance.getBean(ShardTemplate.class).send("orders", outgoing);
	}

	private static Checkpoint checkpoint(ConfigurableApplicationContext instance) {
		return instance.getBean(CheckpointStore.class).read(SHARD);
	}

	private static List<DeadLetter> letters(ConfigurableApplicationContext instance) {
		return instance.getBean(DeadLetters.class).list(DeadLetterFilter.topic("orders"), null, 10).letters();
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	record Order(@Min(1) int amount) {

	}

	static class Annotated {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void book(@Payload @Valid Order order, @Header(ShardHeaders.KEY) String customer,
				@Header(ShardHeaders.SHARD) int shard, @Header(ShardHeaders.OFFSET) Offset offset,
				@Header("attempt") int attempt) {
			this.handled
				.add("%s of %s in shard %d at %s, attempt %d".formatted(order, customer, shard, offset, attempt));
		}

	}

	static class ByHand {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		private final List<Acknowledgment> acknowledgments = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void book(String order, ShardState state, Acknowledgment acknowledgment) {
			state.increment(order, 1);
			this.acknowledgments.add(acknowledgment);
			this.handled.add(order);
		}

	}

	static class Lists {

		private volatile int longest;

		@ShardConsumer("orders")
		void book(List<ShardRecord<String>> orders, ShardState state) {
			this.longest = Math.max(this.longest, orders.size());
			for (ShardRecord<String> order : orders) {
				state.increment(order.key() + "/" + order.payload(), 1);
			}
			if (orders.stream().anyMatch((order) -> order.payload().equals("poison"))) {
				throw new IllegalStateException("cannot take poison");
			}
		}

	}

	/** One record waits until it is released. */
	static class Blocking {

		private final String blocked;

		private final CountDownLatch release = new CountDownLatch(1);

		private final List<String> handled = new CopyOnWriteArrayList<>();

		Blocking(String blocked) {
			this.blocked = blocked;
		}

		@ShardConsumer("orders")
		void book(ShardRecord<String> order, ShardState state) throws InterruptedException {
			state.increment(String.valueOf(order.key()), 1);
			if (order.payload().equals(this.blocked)) {
				assertThat(this.release.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
			}
			this.handled.add(order.payload());
		}

	}

	static class Loop {

		private final Map<ShardId, List<Long>> counts = new ConcurrentHashMap<>();

		@ShardConsumer(value = "orders", interval = "20ms")
		void poll(ShardContext shard, ShardState state) {
			this.counts.computeIfAbsent(shard.shard(), (id) -> new CopyOnWriteArrayList<>())
				.add(state.increment("calls", 1));
		}

	}

	static class Observed {

		private final ObservationRegistry registry;

		private final List<String> observations = new CopyOnWriteArrayList<>();

		Observed(ObservationRegistry registry) {
			this.registry = registry;
		}

		@ShardConsumer("orders")
		void book(String order) {
			this.observations.add(String.valueOf(this.registry.getCurrentObservation().getContext().getName()));
		}

	}

}
