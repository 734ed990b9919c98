package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.endtoend.AccountsInstance.Transfer;
import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes book transfers in a database while they are killed and frozen, and while both
 * servers are restarted; H2 is killed, and loses its last commits then. In the end every
 * transfer was booked once, and every balance is exact. Each has one receipt in another
 * topic, at least one if the database has lost commits.
 * <p>
 * {@code -Dshardkeeper.accounts=all} runs every combination.
 */
@Tag("proof")
class AccountsTests {

	private static final String GROUP = "accounts";

	private static final int SHARDS = 4;

	private static final int TRANSFERS = 1_500;

	private static final int BALANCE = 1_000;

	@TempDir
	private Path directory;

	private EmbeddedRedis redis;

	private RestartedDatabase database;

	private Instances instances;

	private void start(TestDatabase kind) throws IOException {
		// Its own directory: others of this JVM would load the same file.
		this.redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "always", "--dir",
				Files.createDirectory(this.directory.resolve("redis")).toString());
		this.database = RestartedDatabase.start(kind, this.directory.resolve("database"));
		this.instances = new Instances(AccountsInstance.class, (name) -> this.redis.port(), this.directory, GROUP, 1);
		client().sql("create table account (id int primary key, balance bigint not null)").update();
		client().sql("create table booked (id bigint not null, shard varchar(50) not null, token bigint not null)")
			.update();
		for (int account = 0; account < AccountsInstance.ACCOUNTS; account++) {
			client().sql("insert into account (id, balance) values (?, ?)").params(account, BALANCE).update();
		}
	}

	@AfterEach
	void stop() {
		this.instances.close();
		// Not if the database is not on this machine.
		if (this.database != null) {
			this.database.close();
		}
		this.redis.close();
	}

	static List<Arguments> combinations() {
		List<Arguments> some = List.of(Arguments.of(TestDatabase.POSTGRESQL, Calls.IN_LISTS),
				Arguments.of(TestDatabase.H2, Calls.ONE_BY_ONE), Arguments.of(TestDatabase.POSTGRESQL, Calls.BY_KEY));
		if (!"all".equals(System.getProperty("shardkeeper.accounts"))) {
			return some;
		}
		List<Arguments> all = new ArrayList<>(some);
		all.add(Arguments.of(TestDatabase.H2, Calls.IN_LISTS));
		all.add(Arguments.of(TestDatabase.POSTGRESQL, Calls.ONE_BY_ONE));
		all.add(Arguments.of(TestDatabase.H2, Calls.BY_KEY));
		for (Calls calls : Calls.values()) {
			all.add(Arguments.of(TestDatabase.MARIADB, calls));
			all.add(Arguments.of(TestDatabase.MYSQL, calls));
		}
		return all;
	}

	@ParameterizedTest
	@MethodSource("combinations")
	void everyTransferIsBookedOnceWhateverFails(TestDatabase kind, Calls calls) throws IOException {
		kind.assumeRunnable();
		start(kind);
		List<Transfer> transfers = send();
		start("one", calls);
		start("two", calls);
		awaitBooked(100);

		this.instances.kill("one");
		awaitMore();
		start("one", calls);
		awaitMore();

		// Longer than its session: its shards move, and it wakes up in a transaction.
		long newest = newestToken();
		this.instances.signal("two", "STOP");
		await().until(() -> newestToken() > newest);
		if (calls != Calls.ONE_BY_ONE && !this.database.endingIdleTransactions().isEmpty()) {
			// The database has ended the transaction; until then its rows are locked.
			awaitMore();
		}
		this.instances.signal("two", "CONT");
		awaitMore();

		this.database.restart();
		awaitMore();
		this.redis.restart();
		awaitMore();
		this.instances.kill("two");
		start("two", calls);

		awaitBooked(TRANSFERS);
		assertThat(client().sql("select count(distinct id) from booked").query(Long.class).single())
			.isEqualTo(TRANSFERS);
		assertThat(balances()).isEqualTo(expected(transfers));
		this.instances.terminate("one");
		this.instances.terminate("two");
		this.instances.awaitEnd("one");
		this.instances.awaitEnd("two");
		assertThat(client().sql("select count(*) from booked").query(Long.class).single()).isEqualTo(TRANSFERS);
		assertThat(client().sql("select count(*) from shardkeeper_dead_letter").query(Long.class).single()).isZero();
		List<Long> receipts = receipts();
		System.out.printf("accounts, %s, %s: %d transfers, %d receipts%n", kind, calls, TRANSFERS, receipts.size());
		List<Long> ids = transfers.stream().map(Transfer::id).toList();
		if (kind == TestDatabase.H2) {
			assertThat(Set.copyOf(receipts)).isEqualTo(Set.copyOf(ids));
		}
		else {
			assertThat(receipts).containsExactlyInAnyOrderElementsOf(ids);
		}
	}

	/** Both instances have ended, and have forwarded what they had committed before. */
	private List<Long> receipts() {
		String stream = "shardkeeper:{%s#0}:stream:0".formatted(AccountsInstance.RECEIPTS);
		return this.redis.call((commands) -> commands.xrange(stream, Range.unbounded()))
			.stream()
			.map((entry) -> Long.valueOf(entry.getBody().get("v")))
			.toList();
	}

	private List<Transfer> send() {
		List<Transfer> transfers = new ArrayList<>();
		try (ConfigurableApplicationContext sender = new SpringApplicationBuilder(Sender.class)
			.web(WebApplicationType.NONE)
			.run("--spring.main.banner-mode=off", "--shardkeeper.group=" + GROUP,
					"--spring.data.redis.port=" + this.redis.port(),
					"--shardkeeper.topics.transfers.shards=" + SHARDS)) {
			ShardTemplate template = sender.getBean(ShardTemplate.class);
			for (int i = 0; i < TRANSFERS; i++) {
				Transfer transfer = Transfer.random(i);
				transfers.add(transfer);
				template.send(AccountsInstance.TOPIC, Integer.toString(transfer.from()), transfer.text());
			}
		}
		return transfers;
	}

	private void start(String name, Calls calls) {
		boolean batches = calls == Calls.IN_LISTS;
		List<String> arguments = this.database.arguments(calls != Calls.ONE_BY_ONE);
		arguments.addAll(List.of("--shardkeeper.topics.transfers.shards=" + SHARDS,
				"--shardkeeper.topics.receipts.shards=1", "--shardkeeper.topics.transfers.consumer.transaction=jdbc",
				"--shardkeeper.topics.transfers.consumer.batch-size=5",
				"--shardkeeper.session.heartbeat-interval=200ms", "--shardkeeper.session.lease=1s",
				"--shardkeeper.session.timeout=3s", "--shardkeeper.jdbc.initialize-schema=always",
				"--shardkeeper.jdbc.lock-wait=2s",
				"--shardkeeper.topics.transfers.consumer.ordering=" + ((calls == Calls.BY_KEY) ? "key" : "shard"),
				// The other tests of this module have no database.
				"--spring.autoconfigure.exclude=", "--accounts.batches=" + batches,
				"--shardkeeper.consumer.retry.max-attempts=20", "--shardkeeper.consumer.retry.initial-interval=10ms",
				"--accounts.work=" + (batches ? "100ms" : "20ms")));
		this.instances.start(name, arguments.toArray(String[]::new));
	}

	private JdbcClient client() {
		return JdbcClient.create(new DriverManagerDataSource(this.database.url()));
	}

	/** Returns the number of bookings, -1 while the database is away. */
	private long booked() {
		try {
			return client().sql("select count(*) from booked").query(Long.class).single();
		}
		catch (DataAccessException ex) {
			return -1;
		}
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofMinutes(3)).pollInterval(Duration.ofMillis(50));
	}

	private void awaitBooked(long number) {
		await().untilAsserted(() -> assertThat(booked()).isGreaterThanOrEqualTo(number));
	}

	private void awaitMore() {
		awaitBooked(Math.min(TRANSFERS, Math.max(0, booked()) + 100));
	}

	private long newestToken() {
		return client().sql("select max(token) from shardkeeper_shard").query(Long.class).single();
	}

	private Map<Integer, Long> balances() {
		Map<Integer, Long> balances = new TreeMap<>();
		client().sql("select id, balance from account").query((row) -> {
			balances.put(row.getInt(1), row.getLong(2));
		});
		return balances;
	}

	private static Map<Integer, Long> expected(List<Transfer> transfers) {
		Map<Integer, Long> balances = new TreeMap<>();
		for (int account = 0; account < AccountsInstance.ACCOUNTS; account++) {
			balances.put(account, (long) BALANCE);
		}
		for (Transfer transfer : transfers) {
			balances.merge(transfer.from(), (long) -transfer.amount(), Long::sum);
			balances.merge(transfer.to(), (long) transfer.amount(), Long::sum);
		}
		return balances;
	}

	/** How the handler is called. */
	enum Calls {

		IN_LISTS, ONE_BY_ONE,

		/** One by one, several keys of a shard at a time. */
		BY_KEY

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sender {

	}

}
