package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.DeadLetters.SentBack;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whole applications give records up, and have them handled after all.
 */
class DeadLettersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final DeadLetterFilter ALL = DeadLetterFilter.topic("orders");

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
			"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=2",
			"shardkeeper.consumer.retry.initial-interval=1ms");

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "memory" })
	void failingRecordBecomesDeadLetterAndIsHandledWhenSentBack(String store) {
		ConfigurableApplicationContext instance = start(Consuming.class, store);
		Orders orders = instance.getBean(Orders.class);
		DeadLetters letters = instance.getBean(DeadLetters.class);
		Instant begun = Instant.now().minusSeconds(5);
		Appended bad = send(instance, "bad");
		send(instance, "good");

		List<DeadLetter> given = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> letters.list(ALL, null, 10).letters(), (found) -> !found.isEmpty());

		assertThat(given).hasSize(1);
		DeadLetter letter = given.get(0);
		assertThat(letter.shard()).isEqualTo(bad.shard());
		assertThat(letter.offset()).isEqualTo(bad.offset());
		assertThat(letter.key()).isEqualTo("k");
		assertThat(letter.text()).isEqualTo("bad");
		assertThat(letter.attempts()).isEqualTo(2);
		assertThat(letter.exception()).isEqualTo("java.lang.IllegalStateException: cannot book bad");
		assertThat(letter.stackTrace()).contains("DeadLettersTests$Orders.book");
		assertThat(letter.failedAt()).isBetween(begun, Instant.now().plusSeconds(5));
		Awaitility.await().atMost(PATIENCE).until(() -> orders.handled.contains("good"));
		assertThat(orders.handled).as("given up").doesNotContain("bad");

		orders.fails = false;
		assertThat(letters.sendBack(letter.id())).isEqualTo(new SentBack(1, Set.of()));

		Awaitility.await().atMost(PATIENCE).until(() -> orders.handled.contains("bad"));
		awaitNothingWaits(letters, bad.shard());
		assertThat(letters.count("orders")).containsEntry(bad.shard(), 0L);
		assertThat(instance.getBean(ShardStateReader.class).read(bad.shard(), Long.class)).containsEntry("bad", 1L)
			.containsEntry("good", 1L);
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "memory" })
	void recordThatFailsAgainBecomesDeadLetterAgain(String store) {
		ConfigurableApplicationContext instance = start(Consuming.class, store);
		DeadLetters letters = instance.getBean(DeadLetters.class);
		send(instance, "bad");
		DeadLetter first = awaitLetter(letters);

		letters.sendBack(ALL.exception("cannot book"));

		DeadLetter second = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> awaitLetter(letters), (letter) -> !letter.id().equals(first.id()));
		assertThat(second.offset()).isEqualTo(first.offset());
		assertThat(second.attempts()).as("counted again").isEqualTo(2);
		assertThat(letters.drop(ALL)).isOne();
		awaitNothingWaits(letters, first.shard());
	}

	@Test
	void deadLetterSentBackToUnownedShardWaitsForNextOwner() {
		ConfigurableApplicationContext first = start(Consuming.class, "redis");
		Appended bad = send(first, "bad");
		awaitLetter(first.getBean(DeadLetters.class));
		first.close();
		DeadLetters letters = start(Watching.class, "redis").getBean(DeadLetters.class);

		assertThat(letters.sendBack(ALL)).isEqualTo(new SentBack(1, Set.of()));
		assertThat(letters.waiting("orders")).containsEntry(bad.shard(), 1L);
		assertThat(letters.count("orders")).containsEntry(bad.shard(), 0L);

		Orders orders = start(Repaired.class, "redis").getBean(Orders.class);
		Awaitility.await().atMost(PATIENCE).until(() -> orders.handled.contains("bad"));
		awaitNothingWaits(letters, bad.shard());
	}

	@Test
	@Tag("proof")
	void instanceWithoutHandlersSendsBackToOwner() {
		ConfigurableApplicationContext owner = start(Consuming.class, "redis");
		Orders orders = owner.getBean(Orders.class);
		DeadLetters letters = start(Watching.class, "redis").getBean(DeadLetters.class);
		send(owner, "bad");
		DeadLetter letter = awaitLetter(letters);
		orders.fails = false;

		letters.sendBack(letter.id());

		Awaitility.await().atMost(PATIENCE).until(() -> orders.handled.contains("bad"));
	}

	private static DeadLetter awaitLetter(DeadLetters letters) {
		return Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> letters.list(ALL, null, 10).letters(), (found) -> !found.isEmpty())
			.get(0);
	}

	/** Handled records leave the queue with the next commit. */
	private static void awaitNothingWaits(DeadLetters letters, ShardId shard) {
		Awaitility.await().atMost(PATIENCE).until(() -> letters.waiting("orders").get(shard) == 0);
	}

	private static Appended send(ConfigurableApplicationContext instance, String payload) {
		return instance.getBean(ShardTemplate.class).send("orders", "k", payload);
	}

	private ConfigurableApplicationContext start(Class<?> application, String store) {
		return this.instances.start(application, "instance-" + this.instances.started().size(),
				"shardkeeper.store=" + store);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Watching {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Consuming {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Repaired {

		@Bean
		Orders orders() {
			Orders orders = new Orders();
			orders.fails = false;
			return orders;
		}

	}

	static class Orders {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		private volatile boolean fails = true;

		@ShardConsumer("orders")
		void book(ShardRecord<String> order, ShardState state) {
			state.increment(order.payload(), 1);
			if (this.fails && order.payload().equals("bad")) {
				throw new IllegalStateException("cannot book " + order.payload());
			}
			this.handled.add(order.payload());
		}

	}

}
