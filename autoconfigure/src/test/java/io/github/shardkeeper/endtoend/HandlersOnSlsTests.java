package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What depends on the offsets of a source whose replies begin anywhere. */
@Tag("proof")
class HandlersOnSlsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final SlsTestServer server = new SlsTestServer();

	private final EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.consumer.commit.interval=100ms",
			"shardkeeper.session.lease=3s", "shardkeeper.session.heartbeat-interval=200ms",
			"shardkeeper.topics.orders.source=sls", "shardkeeper.sls.endpoint=" + SlsTestServer.ENDPOINT,
			"shardkeeper.sls.project=" + SlsTestServer.PROJECT, "shardkeeper.sls.proxy=" + this.server.proxy(),
			"shardkeeper.sls.access-key-id=id", "shardkeeper.sls.access-key-secret=secret",
			"shardkeeper.sls.poll-interval=50ms", "shardkeeper.consumer.ordering=none");

	@BeforeEach
	void prepare() {
		KnownGroup.begin(this.group.name());
		this.server.allow("id", "secret");
		this.server.createLogstore("orders", 1);
	}

	@AfterEach
	void close() {
		this.group.close();
		this.server.close();
	}

	/** The next owner reads in one reply what the first one has read in several. */
	@Test
	void logsDoneOutOfOrderAreNotHandledAgainAfterACrash() {
		Orders first = new Orders("two");
		ConfigurableApplicationContext one = start("one", first);
		ShardTemplate sender = one.getBean(ShardTemplate.class);
		sender.send("orders", "key", "one");
		awaitCounted(one, Map.of("one", 1));
		sender.send("orders", "key", "two");
		await().atMost(PATIENCE).until(() -> first.called.contains("two"));
		sender.send("orders", "key", "three");
		awaitCounted(one, Map.of("one", 1, "three", 1));
		this.group.kill("one");

		Orders second = new Orders("nothing");
		ConfigurableApplicationContext two = start("two", second);
		awaitCounted(two, Map.of("one", 1, "two", 1, "three", 1));
		two.getBean(ShardTemplate.class).send("orders", "key", "four");
		awaitCounted(two, Map.of("one", 1, "two", 1, "three", 1, "four", 1));
		assertThat(second.called).containsExactly("two", "four");
	}

	private ConfigurableApplicationContext start(String instance, Orders orders) {
		return this.group.start(
				new SpringApplicationBuilder(Application.class).initializers(
						(context) -> ((GenericApplicationContext) context).registerBean(Orders.class, () -> orders)),
				instance);
	}

	private static void awaitCounted(ConfigurableApplicationContext instance, Map<String, Integer> expected) {
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(
					instance.getBean(ShardStateReader.class).read(ShardId.of("orders", 0), Integer.class))
				.isEqualTo(expected));
	}

	@EnableAutoConfiguration
	static class Application {

	}

	static class Orders {

		private final String held;

		private final List<String> called = new CopyOnWriteArrayList<>();

		Orders(String held) {
			this.held = held;
		}

		@ShardConsumer("orders")
		void count(String order, ShardState state) throws InterruptedException {
			this.called.add(order);
			if (order.equals(this.held)) {
				// Until the instance is cut off.
				new CountDownLatch(1).await();
			}
			state.increment(order, 1);
		}

	}

}
