package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.OperationReport;
import io.github.shardkeeper.report.WaitingKeyReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Keys that wait for a failing record, in whole applications. */
@Promise("Other keys continue")
class ParkedKeysTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=1",
			"shardkeeper.consumer.on-failure=park-key", "shardkeeper.consumer.retry-queue.delays=1h",
			"management.endpoints.web.exposure.include=shards");

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@Test
	void keyThatWaitsMovesWithItsShardAndIsHandledInOrder() {
		ConfigurableApplicationContext one = start(Failing.class);
		send(one, "a", "bad");
		send(one, "a", "a2");
		send(one, "b", "b3");
		eventually(() -> assertThat(handled(one)).containsExactly("b3"));
		awaitWaiting(one, 2);

		ConfigurableApplicationContext two = start(Repaired.class);
		one.close();
		send(two, "a", "a4");
		send(two, "b", "b5");
		eventually(() -> assertThat(handled(two)).as("only the other key").containsExactly("b5"));
		awaitWaiting(two, 3);
		assertThat(act(two, "retry-waiting").effects()).containsExactly("Retried now: 3 records of 1 key");

		eventually(() -> assertThat(handled(two)).containsExactly("b5", "bad", "a2", "a4"));
		awaitWaiting(two, 0);
	}

	@Test
	void peopleSeeAndChangeWhatWaits() {
		ConfigurableApplicationContext one = start(Failing.class);
		send(one, "a", "bad");
		send(one, "a", "a2");
		send(one, "c", "bad");
		awaitWaiting(one, 3);

		ShardOperations operations = one.getBean(ShardOperations.class);
		WaitingKeyReport.Page hidden = operations.waiting("orders", "0", null, null, false);
		assertThat(hidden.numberOfKeys()).isEqualTo(2);
		assertThat(hidden.numberOfRecords()).isEqualTo(3);
		WaitingKeyReport first = hidden.keys().get(0);
		assertThat(first.records()).isEqualTo(2);
		assertThat(first.attempts()).isOne();
		assertThat(first.key()).isNull();
		assertThat(first.error()).isEqualTo("java.lang.IllegalStateException");
		assertThat(first.dueIn()).isBetween(Duration.ofMinutes(50), Duration.ofHours(1));
		WaitingKeyReport.Page shown = operations.waiting("orders", "0", null, "1", true);
		assertThat(shown.keys().get(0).key()).isEqualTo("a");
		assertThat(shown.keys().get(0).error()).isEqualTo("java.lang.IllegalStateException: cannot book bad");
		assertThat(operations.waiting("orders", "0", shown.next(), null, true).keys()).singleElement()
			.satisfies((second) -> assertThat(second.key()).isEqualTo("c"));

		assertThat(act(one, "drop-waiting", "key", "a", "dryRun", "true").effects())
			.containsExactly("Would be deleted permanently: 2 records of 1 key");
		awaitWaiting(one, 3);
		assertThat(act(one, "drop-waiting", "id", first.id()).effects()).containsExactly("Deleted: 2 records of 1 key");
		send(one, "a", "a5");
		eventually(() -> assertThat(handled(one)).containsExactly("a5"));
		awaitWaiting(one, 1);
		one.getBean(Orders.class).fails = false;
		assertThat(act(one, "send-back-waiting").effects())
			.containsExactly("Sent back to be handled again: 1 record of 1 key");
		eventually(() -> assertThat(handled(one)).containsExactly("a5", "bad"));
		assertThat(act(one, "drop-waiting", "key", "z").effects())
			.containsExactly("Nothing to do: nothing waits in this shard with this key (any more)");
		assertThat(act(one, "drop-waiting", "id", "1-1").effects())
			.containsExactly("Nothing to do: nothing waits in this shard with this id (any more)");
		assertThatExceptionOfType(OperationRefusedException.class)
			.isThrownBy(() -> act(one, "drop-waiting", "key", "a", "id", "1-0"))
			.withMessageContaining("either 'id' or 'key'");
		assertThatExceptionOfType(OperationRefusedException.class)
			.isThrownBy(() -> operations.waiting("orders", "7", null, null, false))
			.withMessageContaining("There is no shard orders/7");
	}

	private static OperationReport act(ConfigurableApplicationContext instance, String action,
			String... namesAndValues) {
		Map<String, String> fields = new HashMap<>();
		fields.put("action", action);
		for (int i = 0; i < namesAndValues.length; i += 2) {
			fields.put(namesAndValues[i], namesAndValues[i + 1]);
		}
		return instance.getBean(ShardOperations.class).onShard("orders", "0", null, fields);
	}

	private static void awaitWaiting(ConfigurableApplicationContext instance, long records) {
		eventually(
				() -> assertThat(instance.getBean(DeadLetters.class).waiting("orders")).containsEntry(SHARD, records));
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static void send(ConfigurableApplicationContext instance, String key, String payload) {
		instance.getBean(ShardTemplate.class).send("orders", key, payload);
	}

	static List<String> handled(ConfigurableApplicationContext instance) {
		return instance.getBean(Orders.class).handled;
	}

	private ConfigurableApplicationContext start(Class<?> application) {
		return this.instances.start(application, "instance-" + this.instances.started().size());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Failing {

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
