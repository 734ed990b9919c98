package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Appends;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where a group begins that comes to a topic with records, on a real Redis.
 */
@Tag("proof")
class GroupBeginningTests {

	private static final String START = "shardkeeper.topics.orders.start";

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
			"shardkeeper.session.heartbeat-interval=200ms", "shardkeeper.session.lease=1500ms");

	private ShardTemplate template;

	@BeforeEach
	void startSender() {
		this.template = this.instances.start(Sender.class, "sender").getBean(ShardTemplate.class);
	}

	@Test
	void newGroupBeginsWithFirstRecord() {
		send("one", "two");

		assertThat(await(consume("earliest"), 2)).containsExactlyInAnyOrder("one", "two");
	}

	@Test
	void latestIsFirstStartOfGroup() {
		send("one", "two");
		awaitNextMillisecond();
		Handler handler = consume("latest");
		// Long before it gets a shard: the first member of a group waits for a lease.
		assertThat(handler.handled).isEmpty();
		send("three", "four");

		assertThat(await(handler, 2)).containsExactlyInAnyOrder("three", "four");
		close(handler);
		send("five");
		assertThat(await(consume("latest"), 1)).as("continues where it was").containsExactly("five");
	}

	@Test
	void groupThatBeganAtLatestReadsNewShardWhole() {
		Handler first = consume("latest");
		send("one");
		await(first, 1);
		close(first);
		ConfigurableApplicationContext sender = this.instances.start(Sender.class, "sender");
		assertThat(sender.getBean(ShardTopics.class).raise("orders", 3)).isEqualTo(3);
		Appends.append(sender.getBean(ShardAppender.class),
				List.of(new NewRecord(ShardId.of("orders", 2), "key", "new".getBytes())));
		awaitNextMillisecond();

		Handler second = this.instances.start(Consumer.class, "second", START + "=latest").getBean(Handler.class);

		assertThat(await(second, 1)).containsExactly("new");
	}

	@Test
	void groupBeginsAtTime() {
		send("one", "two");
		Instant afterwards = awaitNextMillisecond();
		send("three", "four");

		assertThat(await(consume(afterwards.toString()), 2)).containsExactlyInAnyOrder("three", "four");
	}

	@Test
	void groupBeginsAtOffset() {
		List<Appended> sent = send("one", "one", "one");
		Handler handler = consume(sent.get(1).offset().value());

		Awaitility.await().until(() -> handler.offsets.size() == 2);
		assertThat(handler.offsets).containsExactly(sent.get(1).offset().value(), sent.get(2).offset().value());
	}

	/** Waits for the next millisecond of this machine's clock. */
	private static Instant awaitNextMillisecond() {
		long before = Instant.now().toEpochMilli();
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> Instant.now().toEpochMilli() > before);
		return Instant.now();
	}

	private List<Appended> send(String... payloads) {
		List<ShardTemplate.Outgoing> records = new ArrayList<>();
		for (String payload : payloads) {
			records.add(new ShardTemplate.Outgoing(payload, payload));
		}
		return this.template.sendAll("orders", records);
	}

	/** Each a new instance, of the same group. */
	private Handler consume(String start) {
		return this.instances.start(Consumer.class, "consumer-" + this.instances.started().size(), START + "=" + start)
			.getBean(Handler.class);
	}

	private void close(Handler handler) {
		this.instances.started()
			.stream()
			.filter((context) -> context.isActive()
					&& context.getBeanProvider(Handler.class).getIfAvailable() == handler)
			.findFirst()
			.orElseThrow()
			.close();
	}

	private static List<String> await(Handler handler, int records) {
		patiently().untilAsserted(() -> assertThat(handler.handled).hasSizeGreaterThanOrEqualTo(records));
		return handler.handled;
	}

	private static ConditionFactory patiently() {
		return Awaitility.await().atMost(Duration.ofSeconds(20));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sender {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Consumer {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final List<String> handled = new CopyOnWriteArrayList<>();

		final List<String> offsets = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order) {
			this.handled.add(order.payload());
			this.offsets.add(order.offset().value());
		}

	}

}
