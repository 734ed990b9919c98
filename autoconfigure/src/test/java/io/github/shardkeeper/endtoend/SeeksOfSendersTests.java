package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Operators move a shard to another position while records that its calls have sent wait
 * for their target. The number behind each sent record is that of its call in the state.
 */
@Timeout(180)
@Tag("proof")
class SeeksOfSendersTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final List<String> FIRST = List.of("0/1", "1/2", "2/3", "3/4", "4/5", "5/6", "6/7", "7/8", "8/9",
			"9/10");

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.paid.shards=1", "shardkeeper.consumer.commit.interval=50ms",
			"management.endpoints.web.exposure.include=shards");

	private final TargetStream paid = new TargetStream(this.instances.name(), ShardId.of("paid", 0));

	private HikariDataSource database;

	private ShardTemplate template;

	private ConfigurableApplicationContext operator;

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	@AfterEach
	void close() {
		this.instances.close();
		if (this.database != null) {
			this.database.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whatWaitsIsSentOnceAndWhatIsHandledAgainIsSentAgain(Checkpoints checkpoints) {
		begin(checkpoints);
		ConfigurableApplicationContext one = start("one");
		List<Offset> offsets = sendUntilTheTargetIsAway();
		awaitWaiting(5);

		seek(offsets.get(6).value(), false);
		awaitWaiting(5 + 4);
		awaitProblem(one, "Continues, but records that it has sent cannot be appended to paid/0");
		this.paid.bringBack();

		List<String> sent = new ArrayList<>(FIRST);
		sent.addAll(List.of("6/11", "7/12", "8/13", "9/14"));
		awaitPaid(sent);
		send(10);
		sent.add("10/15");
		awaitPaid(sent);
		awaitWaiting(0);
	}

	@ParameterizedTest
	@EnumSource
	void whatWaitsStaysWhenTheStateIsCleared(Checkpoints checkpoints) {
		begin(checkpoints);
		start("one");
		sendUntilTheTargetIsAway();
		awaitWaiting(5);

		seek("earliest", true);
		awaitWaiting(5 + 10);
		this.paid.bringBack();

		List<String> sent = new ArrayList<>(FIRST);
		sent.addAll(FIRST);
		awaitPaid(sent);
		awaitWaiting(0);
	}

	@ParameterizedTest
	@EnumSource
	void newOwnerSendsWhatWaitsBeforeWhatItHandlesAgain(Checkpoints checkpoints) {
		begin(checkpoints);
		ConfigurableApplicationContext one = start("one");
		List<Offset> offsets = sendUntilTheTargetIsAway();
		awaitWaiting(5);
		one.close();

		request(offsets.get(6).value(), false);
		assertThat(waiting()).as("without an owner").isEqualTo(5);
		start("two");
		awaitApplied();
		awaitWaiting(5 + 4);
		this.paid.bringBack();

		List<String> sent = new ArrayList<>(FIRST);
		sent.addAll(List.of("6/11", "7/12", "8/13", "9/14"));
		awaitPaid(sent);
		awaitWaiting(0);
	}

	/** It handles no record, neither before the seek nor after it. */
	@ParameterizedTest
	@EnumSource
	void shardWhoseOutboxIsFullMovesAndContinuesOnceThereIsRoom(Checkpoints checkpoints) {
		begin(checkpoints);
		ConfigurableApplicationContext one = start("one", "shardkeeper.outbox.max-records=2");
		List<Offset> offsets = sendUntilTheTargetIsAway();
		awaitWaiting(2);

		seek("after " + offsets.get(7).value(), false);
		awaitProblem(one, "Takes no more records, because records that it has sent cannot be appended to paid/0");
		assertThat(waiting()).isEqualTo(2);
		this.paid.bringBack();

		List<String> sent = new ArrayList<>(FIRST.subList(0, 7));
		sent.addAll(List.of("8/8", "9/9"));
		awaitPaid(sent);
		awaitWaiting(0);
	}

	private void begin(Checkpoints kind) {
		this.database = (kind.database != null) ? kind.database.create() : null;
		this.operator = start(Operator.class, "operator");
		this.template = this.operator.getBean(ShardTemplate.class);
	}

	private ConfigurableApplicationContext start(String instance, String... properties) {
		return start(Orders.class, instance, properties);
	}

	private ConfigurableApplicationContext start(Class<?> application, String instance, String... properties) {
		SpringApplicationBuilder builder = new SpringApplicationBuilder(application);
		HikariDataSource pool = this.database;
		if (pool != null) {
			builder.initializers((ApplicationContextInitializer<ConfigurableApplicationContext>) (
					context) -> context.getBeanFactory().registerSingleton("dataSource", pool));
			builder.properties("shardkeeper.topics.orders.consumer.transaction=jdbc");
		}
		return this.instances.start(builder, instance, properties);
	}

	/** Five records arrive in the target, and those of the next five do not. */
	private List<Offset> sendUntilTheTargetIsAway() {
		List<Offset> offsets = new ArrayList<>();
		for (int order = 0; order < 5; order++) {
			offsets.add(send(order));
		}
		awaitPaid(FIRST.subList(0, 5));
		awaitWaiting(0);
		this.paid.putAside();
		for (int order = 5; order < 10; order++) {
			offsets.add(send(order));
		}
		return offsets;
	}

	private Offset send(int order) {
		return this.template.send("orders", "ann", Integer.toString(order)).offset();
	}

	private void seek(String position, boolean clearsState) {
		request(position, clearsState);
		awaitApplied();
	}

	private void request(String position, boolean clearsState) {
		this.operator.getBean(ShardOperations.class)
			.onShard(SHARD.topic(), SHARD.id(), null,
					Map.of("action", "seek", "to", position, "clearState", Boolean.toString(clearsState)));
	}

	private void awaitApplied() {
		eventually(() -> assertThat(store().seeks(List.of(SHARD)).get(SHARD)).satisfies((seeks) -> {
			assertThat(seeks.applied()).isPositive();
			assertThat(seeks.pending()).isNull();
		}));
	}

	private void awaitPaid(List<String> expected) {
		eventually(() -> assertThat(this.paid.records()).isEqualTo(expected));
	}

	/** Also counts what was sent, until the shard has committed that it was. */
	private void awaitWaiting(int records) {
		eventually(() -> assertThat(waiting()).isEqualTo(records));
	}

	private int waiting() {
		return store().outbox(SHARD, null, 1_000, 1_000_000).size();
	}

	private CheckpointStore store() {
		return this.operator.getBean(CheckpointStore.class);
	}

	private void awaitProblem(ConfigurableApplicationContext instance, String beginning) {
		eventually(() -> assertThat(instance.getBean(ShardConsumerRunner.class).problems().get(SHARD))
			.startsWith(beginning));
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	/** Where the checkpoints of the shard are. */
	enum Checkpoints {

		REDIS(null),

		H2(TestDatabase.H2),

		POSTGRESQL(TestDatabase.POSTGRESQL);

		private final TestDatabase database;

		Checkpoints(TestDatabase database) {
			this.database = database;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Operator {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@ShardConsumer("orders")
		void order(ShardRecord<String> order, ShardState state, ShardOutput output) {
			output.send("paid", order.key(), order.payload() + "/" + state.increment("orders", 1));
		}

	}

}
