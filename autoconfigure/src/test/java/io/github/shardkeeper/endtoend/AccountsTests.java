package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.endtoend.AccountsInstance.Transfer;
import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes book transfers in a database while they are killed and frozen, and while both
 * servers are restarted; H2 is killed, and loses its last commits then. In the end every
 * transfer was booked once, and every balance is exact. Each has one receipt in another
 * topic, at least one if the database has lost commits.
 * <p>
 * A PostgreSQL fails over, again and again, to a copy that lacks what it has acknowledged
 * since, while owners are killed and frozen, and while it does not reply commits. The
 * seed {@value #SEED}, which the run prints, decides their order and the victims.
 * <p>
 * {@code -Dshardkeeper.accounts=all} runs every combination.
 */
@Tag("proof")
@Promise("Rows exactly once")
class AccountsTests {

	private static final String GROUP = "accounts";

	private static final int SHARDS = 4;

	private static final int TRANSFERS = 1_500;

	private static final String SEED = "shardkeeper.accounts.seed";

	private static final Duration LONGEST_MOVE = Duration.ofSeconds(30);

	private static final List<String> INSTANCES = List.of("one", "two");

	private static final int BALANCE = 1_000;

	@TempDir
	private Path directory;

	private EmbeddedRedis redis;

	private RestartedDatabase database;

	private Instances instances;

	private ConfigurableApplicationContext sender;

	private final List<Transfer> transfers = new ArrayList<>();

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
		this.sender = new SpringApplicationBuilder(Sender.class).web(WebApplicationType.NONE)
			.run("--spring.main.banner-mode=off", "--shardkeeper.group=" + GROUP,
					"--spring.data.redis.port=" + this.redis.port(), "--shardkeeper.topics.transfers.shards=" + SHARDS);
	}

	@AfterEach
	void stop() {
		this.instances.close();
		this.sender.close();
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
		send(TRANSFERS);
		INSTANCES.forEach((instance) -> start(instance, calls));
		awaitBooked(100);

		this.instances.kill("one");
		awaitMore();
		start("one", calls);
		awaitMore();

		freeze("two");
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

		endAndCheck(kind != TestDatabase.H2);
		System.out.printf("accounts, %s, %s: %d transfers%n", kind, calls, TRANSFERS);
	}

	@Test
	void everyTransferIsBookedOnceThoughTheDatabaseLosesCommits() throws IOException {
		long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong(1_000_000));
		Random random = new Random(seed);
		Calls calls = Calls.values()[random.nextInt(Calls.values().length)];
		List<Failover> failovers = new ArrayList<>(List.of(Failover.values()));
		Collections.shuffle(failovers, random);
		System.out.printf("accounts, failovers: seed %d, %s, %s%n", seed, calls, failovers);
		start(TestDatabase.POSTGRESQL);
		INSTANCES.forEach((instance) -> start(instance, calls));
		for (Failover failover : failovers) {
			awaitShared();
			send(100);
			awaitAllBooked();
			copyDatabase();
			send(500);
			awaitBooked(this.transfers.size() - 400);
			String victim = INSTANCES.get(random.nextInt(INSTANCES.size()));
			before(failover, victim);
			failOver();
			if (failover == Failover.OF_A_FROZEN_OWNER) {
				this.instances.signal(victim, "CONT");
			}
			else if (failover != Failover.OF_LIVE_OWNERS) {
				start(victim, calls);
			}
			awaitAllBooked();
			System.out.printf("accounts, failovers: %s %s, %d are booked%n", failover, victim, booked());
		}
		copyDatabase();
		send(300);
		awaitAllBooked();
		// No record comes that would find it.
		failOver();
		endAndCheck(false);
		assertThat(INSTANCES).as("what the logs say")
			.anySatisfy((instance) -> assertThat(this.directory.resolve(instance + ".log")).content()
				.contains("The database has lost commits of transfers/", "synchronous_standby_names"));
		assertThat(INSTANCES).as("what the logs do not say")
			.allSatisfy((instance) -> assertThat(this.directory.resolve(instance + ".log")).content()
				.doesNotContain("two masters"));
	}

	/** What happens between the copy and the failover to it, which therefore lacks it. */
	private void before(Failover failover, String victim) {
		switch (failover) {
			case OF_LIVE_OWNERS -> awaitAllBooked();
			case OF_A_KILLED_OWNER -> {
				long newest = newestToken();
				this.instances.kill(victim);
				await().until(() -> newestToken() > newest);
				awaitAllBooked();
			}
			case OF_A_FROZEN_OWNER -> freeze(victim);
			case DURING_HANGING_COMMITS -> {
				hangCommits();
				this.instances.kill(victim);
			}
			case AFTER_LATE_COMMITS -> {
				hangCommits();
				this.instances.kill(victim);
				client().sql("alter system reset synchronous_standby_names").update();
				client().sql("select pg_reload_conf()").query().listOfRows();
				awaitAllBooked();
			}
		}
	}

	/**
	 * Longer than its session: its shards move, and it wakes up in a transaction. If its
	 * transactions hold the rows of all of its shards, none can move, and it is frozen
	 * again at another moment.
	 */
	private void freeze(String instance) {
		long newest = newestToken();
		await().until(() -> {
			this.instances.signal(instance, "STOP");
			try {
				await().atMost(LONGEST_MOVE).until(() -> newestToken() > newest);
				return true;
			}
			catch (ConditionTimeoutException ex) {
				this.instances.signal(instance, "CONT");
				return false;
			}
		});
	}

	/** No commit is answered any more, though its rows are written. */
	private void hangCommits() {
		client().sql("alter system set synchronous_standby_names = 'nobody'").update();
		client().sql("select pg_reload_conf()").query().listOfRows();
		await().untilAsserted(() -> {
			send(20);
			assertThat(client().sql("select count(*) from pg_stat_activity where wait_event = 'SyncRep'")
				.query(Long.class)
				.single()).isPositive();
		});
	}

	/** Of a server that is down, so that it is what it had on its disk at one moment. */
	private void copyDatabase() {
		this.database.stop();
		run("rm", "-rf", copy());
		run("cp", "-a", data(), copy());
		this.database.startAgain();
	}

	/** As to a replica that lags behind. */
	private void failOver() {
		this.database.stop();
		run("rm", "-rf", data());
		run("cp", "-a", copy(), data());
		this.database.startAgain();
	}

	private String data() {
		return this.directory.resolve("database").toString();
	}

	private String copy() {
		return this.directory.resolve("copy").toString();
	}

	/** With owners and rights, which a server insists on. */
	private static void run(String... command) {
		try {
			assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
				.as("exit code of %s", List.of(command))
				.isZero();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** Waits until all is booked, ends both instances, and compares. */
	private void endAndCheck(boolean oneReceipt) {
		awaitAllBooked();
		assertThat(balances()).isEqualTo(expected());
		INSTANCES.forEach(this.instances::terminate);
		INSTANCES.forEach(this.instances::awaitEnd);
		assertThat(client().sql("select count(*) from booked").query(Long.class).single())
			.isEqualTo(this.transfers.size());
		assertThat(client().sql("select count(*) from shardkeeper_dead_letter").query(Long.class).single()).isZero();
		List<Long> receipts = receipts();
		System.out.printf("accounts: %d receipts for %d transfers%n", receipts.size(), this.transfers.size());
		List<Long> ids = this.transfers.stream().map(Transfer::id).toList();
		if (oneReceipt) {
			assertThat(receipts).containsExactlyInAnyOrderElementsOf(ids);
		}
		else {
			assertThat(Set.copyOf(receipts)).isEqualTo(Set.copyOf(ids));
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

	private void send(int number) {
		List<Transfer> more = IntStream.range(this.transfers.size(), this.transfers.size() + number)
			.mapToObj(Transfer::random)
			.toList();
		this.sender.getBean(ShardTemplate.class)
			.sendAll(AccountsInstance.TOPIC,
					more.stream()
						.map((transfer) -> new Outgoing(Integer.toString(transfer.from()), transfer.text()))
						.toList());
		this.transfers.addAll(more);
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
		awaitBooked(Math.min(this.transfers.size(), Math.max(0, booked()) + 100));
	}

	private void awaitAllBooked() {
		awaitBooked(this.transfers.size());
		assertThat(client().sql("select count(distinct id) from booked").query(Long.class).single())
			.isEqualTo(this.transfers.size());
	}

	/** Each instance owns shards. */
	private void awaitShared() {
		LettuceConnectionFactory connections = RedisClients.factory(this.redis);
		try (RedisCoordinationStore store = new RedisCoordinationStore(new RedisConnector(connections), "shardkeeper",
				GROUP, Duration.ofSeconds(10))) {
			await().untilAsserted(() -> assertThat(store.readChanges(0, -1).ownerships())
				.filteredOn((ownership) -> ownership.phase() == Phase.OWNED)
				.extracting((ownership) -> ownership.owner().instance())
				.contains("one", "two"));
		}
		finally {
			connections.destroy();
		}
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

	private Map<Integer, Long> expected() {
		Map<Integer, Long> balances = new TreeMap<>();
		for (int account = 0; account < AccountsInstance.ACCOUNTS; account++) {
			balances.put(account, (long) BALANCE);
		}
		for (Transfer transfer : this.transfers) {
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

	/** Failovers to a copy, by what it lacks besides rows. */
	private enum Failover {

		OF_LIVE_OWNERS,

		/** Its heir's acquisition is lost, too. */
		OF_A_KILLED_OWNER,

		/** The same, and the former owner wakes up. */
		OF_A_FROZEN_OWNER,

		/** Commits that nobody has acknowledged; their owner is killed. */
		DURING_HANGING_COMMITS,

		/** Commits of a killed owner that were carried out after its death. */
		AFTER_LATE_COMMITS

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sender {

	}

}
