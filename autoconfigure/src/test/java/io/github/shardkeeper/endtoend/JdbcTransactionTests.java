package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.testsupport.EveryDatabase;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whole applications whose handlers write rows in transactions that contain the offset.
 */
@ExtendWith(OutputCaptureExtension.class)
@MoreInProof
@Promise("Rows exactly once")
class JdbcTransactionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final DeadLetterFilter ALL = DeadLetterFilter.topic("orders");

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final String BY_KEY = "shardkeeper.topics.orders.consumer.ordering=key";

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.inMemory("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.orders.consumer.transaction=jdbc", "shardkeeper.consumer.retry.max-attempts=2",
			"shardkeeper.consumer.retry.initial-interval=1ms");

	private HikariDataSource database;

	@AfterEach
	void close() {
		this.instances.close();
		// Not if the database is not on this machine.
		if (this.database != null) {
			this.database.close();
		}
	}

	@EveryDatabase
	void rowsStateAndOffsetAreStoredTogether(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one");
		List<Appended> sent = send(instance, "a", "b", "c");

		awaitRows("a", "b", "c");
		Offset last = sent.get(2).offset();
		assertThat(committedOffset()).isEqualTo(last.value());
		assertThat(instance.getBean(CheckpointStore.class).read(SHARD).offset()).isEqualTo(last);
		assertThat(instance.getBean("embeddedGroupCheckpointStore", CheckpointStore.class).read(SHARD).offset())
			.as("the group's store has other topics only")
			.isNull();
		assertThat(instance.getBean(ShardStateReader.class).read(SHARD, Long.class)).isEqualTo(Map.of("rows", 3L));
		instance.close();

		send(start(Single.class, "two"), "d");
		awaitRows("a", "b", "c", "d");
		assertThat(state()).containsEntry("rows", "4");
	}

	@Test
	void expiredStateIsRemovedWithoutARecord() {
		open(TestDatabase.H2);
		ConfigurableApplicationContext instance = start(Single.class, "one",
				"shardkeeper.topics.orders.consumer.state.ttl=100ms", "shardkeeper.consumer.commit.interval=100ms");
		send(instance, "a");
		awaitRows("a");

		Awaitility.await().atMost(PATIENCE).until(() -> state().isEmpty());
		assertThat(instance.getBean(ShardStateReader.class).read(SHARD, Long.class)).isEmpty();
		send(instance, "b");
		awaitRows("a", "b");
		assertThat(committedOffset()).isNotNull();
	}

	@EveryDatabase
	void failedCallLeavesNoRow(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one");
		Orders orders = instance.getBean(Orders.class);
		orders.failing.add("bad");
		orders.failingOnce.add("shaky");
		send(instance, "shaky", "bad", "good");

		awaitRows("shaky", "good");
		DeadLetters letters = instance.getBean(DeadLetters.class);
		List<DeadLetter> given = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> letters.list(ALL, null, 10).letters(), (found) -> !found.isEmpty());
		assertThat(given).singleElement().satisfies((letter) -> {
			assertThat(letter.text()).isEqualTo("bad");
			assertThat(letter.attempts()).isEqualTo(2);
		});
		assertThat(state()).containsEntry("rows", "2");

		orders.failing.clear();
		assertThat(letters.sendBack(given.get(0).id()).letters()).isOne();
		awaitRows("shaky", "good", "bad");
		Awaitility.await().atMost(PATIENCE).until(() -> letters.waiting("orders").get(SHARD) == 0);
		assertThat(state()).containsEntry("rows", "3");
	}

	/** PostgreSQL aborts the transaction; the handler must not lose its rows silently. */
	@EveryDatabase
	@Tag("proof")
	void rowsOfAnAbortedTransactionAreAFailureOfTheCall(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one");
		instance.getBean(Orders.class).catching.add("caught");
		send(instance, "caught", "next");

		awaitLast("next");
		if (kind == TestDatabase.POSTGRESQL) {
			assertThat(rows()).containsExactly("next");
			assertThat(instance.getBean(DeadLetters.class).list(ALL, null, 10).letters()).singleElement()
				.satisfies((letter) -> assertThat(letter.exception()).contains("current transaction is aborted"));
		}
		else {
			assertThat(rows()).containsExactly("caught", "next");
		}
	}

	@EveryDatabase
	void recordsOfABatchAreOneTransactionAndFailAlone(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Batch.class, "one");
		BatchOrders orders = instance.getBean(BatchOrders.class);
		orders.failing.add("bad");
		String[] sent = IntStream.range(0, 100)
			.mapToObj((number) -> (number == 37) ? "bad" : "order-" + number)
			.toArray(String[]::new);
		send(instance, sent);

		awaitRows(IntStream.range(0, 100)
			.filter((number) -> number != 37)
			.mapToObj((number) -> "order-" + number)
			.toArray(String[]::new));
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> instance.getBean(DeadLetters.class).count("orders").get(SHARD) == 1);
		assertThat(orders.transactions).isNotEmpty().doesNotContain("");
	}

	@EveryDatabase
	void failedRecordsAreRetriedFromTheQueue(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one",
				"shardkeeper.topics.orders.consumer.on-failure=retry-queue",
				"shardkeeper.consumer.retry-queue.delays=100ms,100ms,1h");
		Orders orders = instance.getBean(Orders.class);
		orders.failing.add("bad");
		send(instance, "bad", "good");
		awaitRows("good");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> instance.getBean(DeadLetters.class).waiting("orders").get(SHARD) == 1);
		orders.failing.clear();

		awaitRows("good", "bad");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> instance.getBean(DeadLetters.class).waiting("orders").get(SHARD) == 0);
		assertThat(state()).containsEntry("rows", "2");
	}

	@EveryDatabase
	@Tag("proof")
	void shardIsConsumedFromAnotherPosition(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one");
		List<Appended> sent = send(instance, "a", "b", "c");
		awaitRows("a", "b", "c");

		instance.getBean(ShardPositions.class).seek(SHARD, StartPosition.parse(sent.get(1).offset().value()));

		awaitRows("a", "b", "c", "b", "c");
		assertThat(committedOffset()).isEqualTo(sent.get(2).offset().value());
	}

	@EveryDatabase
	@Tag("proof")
	void checkpointOfEarlierConsumptionIsTakenOver(TestDatabase kind) {
		open(kind);
		String none = "shardkeeper.topics.orders.consumer.transaction=none";
		ConfigurableApplicationContext before = start(Single.class, "one", none);
		send(before, "a", "b");
		awaitRows("a", "b");
		before.close();

		send(start(Single.class, "two"), "c");

		awaitRows("a", "b", "c");
		assertThat(state()).containsEntry("rows", "3");
	}

	@EveryDatabase
	void transactionsOfSeveralKeysOverlap(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one", BY_KEY);
		Orders orders = instance.getBean(Orders.class);
		orders.waiting.put("slow", () -> {
			awaitRows("fast", "faster");
			assertThat(state()).containsEntry("rows", "2");
		});
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		template.send("orders", "a", "slow");
		template.send("orders", "a", "after slow");
		template.send("orders", "b", "fast");
		Offset last = template.send("orders", "b", "faster").offset();

		awaitRows("slow", "after slow", "fast", "faster");
		assertThat(state()).containsEntry("rows", "4");
		assertThat(committedOffset()).isEqualTo(last.value());
		assertThat(orders.calls).containsExactlyInAnyOrder("slow", "after slow", "fast", "faster");
	}

	/** Calls that wait for others must not have the connections that those need. */
	@EveryDatabase
	@Tag("proof")
	void smallPoolDelaysConcurrentCallsOnly(TestDatabase kind) {
		open(kind);
		this.database.setMaximumPoolSize(3);
		ConfigurableApplicationContext instance = start(Single.class, "one", BY_KEY,
				"shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.topics.orders.consumer.concurrency=16");
		Orders orders = instance.getBean(Orders.class);
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		List<String> good = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			String id = ((i % 10 == 0) ? "bad-" : "good-") + i;
			if (i % 10 == 0) {
				orders.failing.add(id);
			}
			else {
				good.add(id);
			}
			template.send("orders", "key-" + i % 37, id);
		}

		awaitRows(good.toArray(String[]::new));
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> instance.getBean(DeadLetters.class).count("orders").get(SHARD) == 20);
		assertThat(state()).containsEntry("rows", "180");
		assertThat(Set.copyOf(orders.calls)).as("those that a lost lease has ended are repeated").hasSize(200);
	}

	/** Each locks the other's row: the database ends one of the transactions. */
	@EveryDatabase
	void deadlockOfTwoKeysCostsNoAttempt(TestDatabase kind, CapturedOutput output) {
		open(kind);
		client().sql("create table account (id int primary key, cents int not null)").update();
		client().sql("insert into account (id, cents) values (1, 0), (2, 0)").update();
		ConfigurableApplicationContext instance = start(Transfers.class, "one", BY_KEY,
				"shardkeeper.consumer.retry.max-attempts=1");
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		template.send("orders", "a", "1 2");
		template.send("orders", "b", "2 1");

		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(
					() -> assertThat(client().sql("select cents from account order by id").query(Integer.class).list())
						.containsExactly(2, 2));
		assertThat(instance.getBean(DeadLetters.class).count("orders").get(SHARD)).isZero();
		assertThat(instance.getBean(TransferOrders.class).calls).hasValueGreaterThan(2);
		assertThat(instance.getBean(MeterRegistry.class).get("shardkeeper.conflicts").counter().count()).isPositive();
		assertThat(output).contains("for example to end a deadlock; repeating it");
	}

	/** A rollback to its savepoint takes back everything that belongs to the call. */
	@EveryDatabase
	@Tag("proof")
	void failedNestedPartLeavesNothing(TestDatabase kind) {
		open(kind);
		ConfigurableApplicationContext instance = start(Nested.class, "one");
		send(instance, "a", "taken", "b");

		awaitRows("a", "a nested", "taken", "b", "b nested");
		assertThat(state()).isEqualTo(Map.of("rows", "3", "nested", "2"));
		assertThat(instance.getBean(DeadLetters.class).count("orders").get(SHARD)).isZero();
	}

	/** The database works all the time, so the attempts are counted. */
	@EveryDatabase
	@Tag("proof")
	void callThatOutlivesItsTransactionBecomesADeadLetter(TestDatabase kind, CapturedOutput output) {
		open(kind);
		ConfigurableApplicationContext instance = start(Single.class, "one", "spring.transaction.default-timeout=1s");
		instance.getBean(Orders.class).waiting.put("slow", () -> {
			ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager.getResource(this.database);
			Awaitility.await().until(() -> holder.getDeadline().before(new Date()));
		});
		send(instance, "slow", "next");

		awaitRows("next");
		assertThat(instance.getBean(DeadLetters.class).list(ALL, null, 10).letters()).singleElement()
			.satisfies((letter) -> {
				assertThat(letter.exception()).contains("'spring.transaction.default-timeout'");
				assertThat(letter.attempts()).isEqualTo(2);
			});
		assertThat(output).doesNotContain("The database of group");
	}

	/** PostgreSQL refuses it, and HikariCP closes the connection after that reply. */
	@Test
	@Tag("proof")
	void statementThatPostgresqlDoesNotSupportBecomesADeadLetter() {
		open(TestDatabase.POSTGRESQL);
		ConfigurableApplicationContext instance = start(Single.class, "one");
		instance.getBean(Orders.class).waiting.put("refused",
				() -> client().sql("select distinct id from booked for update").query(String.class).list());
		send(instance, "refused", "next");

		awaitRows("next");
		assertThat(instance.getBean(DeadLetters.class).list(ALL, null, 10).letters()).singleElement()
			.satisfies((letter) -> {
				assertThat(letter.exception()).contains("FOR UPDATE is not allowed");
				assertThat(letter.attempts()).isEqualTo(2);
			});
	}

	/** As the guide asks for where calls of several keys overlap. */
	private void open(TestDatabase kind) {
		this.database = kind.create(kind.isMysqlOrMariadb() ? "TRANSACTION_READ_COMMITTED" : "");
		client().sql("create table booked (id varchar(100) not null)").update();
		client().sql("create table guarded (id varchar(100) primary key)").update();
		client().sql("insert into guarded (id) values ('taken')").update();
	}

	private ConfigurableApplicationContext start(Class<?> application, String name, String... properties) {
		HikariDataSource pool = this.database;
		SpringApplicationBuilder builder = new SpringApplicationBuilder(application).initializers(
				(ApplicationContextInitializer<ConfigurableApplicationContext>) (context) -> context.getBeanFactory()
					.registerSingleton("dataSource", pool));
		return this.instances.start(builder, name, properties);
	}

	private static List<Appended> send(ConfigurableApplicationContext instance, String... orders) {
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		return Stream.of(orders).map((order) -> template.send("orders", "k", order)).toList();
	}

	private JdbcClient client() {
		return JdbcClient.create((DataSource) this.database);
	}

	private List<String> rows() {
		return client().sql("select id from booked").query(String.class).list();
	}

	private void awaitLast(String id) {
		Awaitility.await().atMost(PATIENCE).until(() -> rows().contains(id));
	}

	private void awaitRows(String... ids) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows()).containsExactlyInAnyOrder(ids));
	}

	private String committedOffset() {
		return client().sql("select offset_value from shardkeeper_shard where topic = 'orders'")
			.query(String.class)
			.single();
	}

	private Map<String, String> state() {
		Map<String, String> state = new ConcurrentHashMap<>();
		client().sql("select entry_key, entry_value from shardkeeper_state").query((row) -> {
			state.put(row.getString(1), row.getString(2));
		});
		return state;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Single {

		@Bean
		Orders orders(JdbcClient client) {
			return new Orders(client);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Nested {

		@Bean
		NestedOrders orders(JdbcClient client, PlatformTransactionManager manager) {
			return new NestedOrders(client, manager);
		}

	}

	static class NestedOrders {

		private final JdbcClient client;

		private final TransactionTemplate part;

		NestedOrders(JdbcClient client, PlatformTransactionManager manager) {
			this.client = client;
			this.part = new TransactionTemplate(manager);
			this.part.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		}

		@ShardConsumer("orders")
		void book(String id, ShardState state) {
			state.increment("rows", 1);
			this.client.sql("insert into booked (id) values (?)").param(id).update();
			try {
				this.part.executeWithoutResult((status) -> {
					state.increment("nested", 1);
					this.client.sql("insert into booked (id) values (?)").param(id + " nested").update();
					this.client.sql("insert into guarded (id) values (?)").param(id).update();
				});
			}
			catch (DuplicateKeyException ex) {
				// As the guide advises for statements that may fail.
				return;
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Batch {

		@Bean
		BatchOrders orders(JdbcClient client) {
			return new BatchOrders(client);
		}

	}

	static class Orders {

		private final JdbcClient client;

		private final Set<String> failing = ConcurrentHashMap.newKeySet();

		private final Set<String> failingOnce = ConcurrentHashMap.newKeySet();

		private final Set<String> catching = ConcurrentHashMap.newKeySet();

		private final Map<String, Runnable> waiting = new ConcurrentHashMap<>();

		private final Queue<String> calls = new ConcurrentLinkedQueue<>();

		Orders(JdbcClient client) {
			this.client = client;
		}

		@ShardConsumer("orders")
		void book(String id, ShardState state) {
			this.calls.add(id);
			state.increment("rows", 1);
			this.client.sql("insert into booked (id) values (?)").param(id).update();
			this.waiting.getOrDefault(id, () -> {
			}).run();
			if (this.catching.contains(id)) {
				try {
					this.client.sql("insert into guarded (id) values ('taken')").update();
				}
				catch (RuntimeException ex) {
					return;
				}
			}
			if (this.failingOnce.remove(id) || this.failing.contains(id)) {
				throw new IllegalStateException("cannot book " + id);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Transfers {

		@Bean
		TransferOrders orders(JdbcClient client) {
			return new TransferOrders(client);
		}

	}

	static class TransferOrders {

		private final JdbcClient client;

		private final AtomicInteger calls = new AtomicInteger();

		private final CyclicBarrier bothHaveALock = new CyclicBarrier(2);

		TransferOrders(JdbcClient client) {
			this.client = client;
		}

		@ShardConsumer("orders")
		void book(String accounts) throws Exception {
			boolean first = this.calls.incrementAndGet() <= 2;
			for (String account : accounts.split(" ")) {
				this.client.sql("update account set cents = cents + 1 where id = ?")
					.param(Integer.parseInt(account))
					.update();
				if (first && accounts.startsWith(account)) {
					this.bothHaveALock.await(60, TimeUnit.SECONDS);
				}
			}
		}

	}

	static class BatchOrders {

		private final JdbcClient client;

		private final Set<String> failing = ConcurrentHashMap.newKeySet();

		private final Set<String> transactions = ConcurrentHashMap.newKeySet();

		BatchOrders(JdbcClient client) {
			this.client = client;
		}

		@ShardConsumer("orders")
		void book(List<String> orders) {
			this.transactions.add(TransactionSynchronizationManager.isActualTransactionActive() ? "active" : "");
			for (String id : orders) {
				this.client.sql("insert into booked (id) values (?)").param(id).update();
				if (this.failing.contains(id)) {
					throw new IllegalStateException("cannot book " + id);
				}
			}
		}

	}

}
