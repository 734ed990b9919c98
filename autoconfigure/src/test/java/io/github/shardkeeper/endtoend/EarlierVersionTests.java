package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.DeadLetters.SentBack;
import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardPositions.Progress;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.GroupReporter;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application resumes from the data that an earlier version has left in Redis.
 * <p>
 * Each dump is the RDB file of a Redis 6.2 whose group was killed in the middle of its
 * work. {@link #writeDump} has made it, on a checkout of the version that the file is
 * named after, and makes one of a later version:
 *
 * <pre>
 * mvn -pl autoconfigure -am test -Pproof -Dtest=EarlierVersionTests -Dshardkeeper.dump=/tmp/dump.rdb
 * </pre>
 *
 * It contains a group that two members have left and in which two more were killed, with
 * their load reports, a plan, a shard on its way from one of them to the other, and a
 * retired topic; states with numbers, JSON and texts; records that are handled, not
 * handled, or handled ahead of one that is not; two retries, one of them due; dead
 * letters of a failed call and of an unreadable payload; a raised number of shards; seeks
 * that are applied, and seeks that are pending; a topic that begins at its latest record;
 * the offset of a broadcast topic. No shard is completed: a Redis stream has no end.
 */
@OnEveryRedis
@Tag("proof")
class EarlierVersionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String PREFIX = "kept";

	private static final String GROUP = "accounts";

	private static final ShardId ORDERS_1 = ShardId.of("orders", 1);

	private static final ShardId REPLAYED_0 = ShardId.of("replayed", 0);

	private static final ShardId REPLAYED_1 = ShardId.of("replayed", 1);

	private static final String TEXT = "»quoted« \"text\" of ";

	@TempDir
	private Path directory;

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.key-prefix=" + PREFIX,
			"shardkeeper.group=" + GROUP, "shardkeeper.topics.orders.shards=2", "shardkeeper.topics.payments.shards=1",
			"shardkeeper.topics.payments.consumer.on-failure=retry-queue",
			"shardkeeper.topics.payments.consumer.retry-queue.delays=5s", "shardkeeper.topics.audit.shards=1",
			"shardkeeper.topics.audit.consumer.ordering=none", "shardkeeper.topics.replayed.shards=2",
			"shardkeeper.topics.news.shards=1", "shardkeeper.topics.news.start=latest",
			"shardkeeper.topics.prices.shards=1", "shardkeeper.topics.prices.mode=broadcast",
			"shardkeeper.topics.prices.resume=true", "shardkeeper.assignment.strategy=load-aware",
			"shardkeeper.assignment.load.report-interval=1s",

			"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=2",
			"shardkeeper.consumer.retry.initial-interval=1ms");

	@ParameterizedTest
	@ValueSource(strings = "2026-11-22.rdb")
	void dataOfEarlierVersionIsRead(String dump) throws IOException {
		try (InputStream file = getClass().getResourceAsStream(dump)) {
			Files.copy(file, this.directory.resolve("dump.rdb"), StandardCopyOption.REPLACE_EXISTING);
		}
		try (EmbeddedRedis redis = startRedis()) {
			Map<String, Long> tokens = storedTokens(redis);
			assertThat(tokens).hasSize(10);
			ConfigurableApplicationContext watcher = start(redis, Watching.class, "watcher");
			requireStoredStates(watcher.getBean(ShardStateReader.class));
			requireStoredLetters(watcher.getBean(DeadLetters.class));

			ConfigurableApplicationContext reader = start(redis, Reading.class, "reader", "shardkeeper.version=1.2");
			Journal journal = reader.getBean(Journal.class);
			List<String> expected = new ArrayList<>(List.of("orders/0 stop a3", "orders/0 a4", "orders/1 stop b4",
					"orders/2 stop c2", "payments/0 fail due", "audit/0 stop x1", "replayed/0 r1", "replayed/0 r2",
					"replayed/0 r3", "replayed/1 r3", "news/0 n2", "prices/0 q2"));
			eventually(() -> assertThat(journal.handled).containsExactlyInAnyOrderElementsOf(expected));
			assertThat(journal.handled).as("in order")
				.containsSubsequence("orders/0 stop a3", "orders/0 a4")
				.containsSubsequence("replayed/0 r1", "replayed/0 r2", "replayed/0 r3");
			requireRetiredTopic(reader);
			requireHealthy(watcher);
			requireHealthy(reader);
			assertThat(report(reader)).allSatisfy(
					(shard) -> assertThat(shard.token()).isGreaterThan(tokens.get(shard.topic() + "/" + shard.id())));
			assertThat(reader.getBean(ShardTopics.class).shards("orders")).isEqualTo(3);

			DeadLetters letters = reader.getBean(DeadLetters.class);
			assertThat(letters.sendBack(letters(letters, "orders").get(0).id())).isEqualTo(new SentBack(1, Set.of()));
			expected.add("orders/1 fail b2");
			eventually(() -> assertThat(journal.handled).containsExactlyInAnyOrderElementsOf(expected));
			requireStatesAtEnd(reader.getBean(ShardStateReader.class));
			eventually(() -> assertThat(letters.waiting("payments")).as("not due for 100 years")
				.containsEntry(ShardId.of("payments", 0), 1L));
			assertThat(letters.waiting("orders").values()).containsOnly(0L);
			assertThat(letters.count("orders").values()).containsOnly(0L);
			assertThat(letters.count("payments").values()).containsOnly(0L);
			reader.close();
			watcher.close();
		}
	}

	private static void requireStoredStates(ShardStateReader states) {
		requireState(states, "orders/0", 2, "a2");
		assertThat(state(states, "orders/0")).containsEntry("order",
				Map.of("customer", "ann", "item", "a2", "headers", Map.of("tenant", "acme"), "amount", 12.5));
		requireState(states, "orders/1", 2, "b3");
		requireState(states, "orders/2", 1, "c1");
		requireState(states, "payments/0", 1, "p1");
		assertThat(state(states, "audit/0")).isEqualTo(Map.of("x0", 1, "x2", 1, "x3", 1));
		requireState(states, "replayed/0", 3, "r3");
		requireState(states, "replayed/1", 3, "r3");
		requireState(states, "old/0", 1, "o1");
		requireState(states, "old/1", 1, "o1");
		assertThat(state(states, "news/0")).isEmpty();
	}

	private static void requireStatesAtEnd(ShardStateReader states) {
		eventually(() -> {
			requireState(states, "orders/0", 4, "a4");
			requireState(states, "orders/1", 4, "fail b2");
			requireState(states, "orders/2", 2, "stop c2");
			requireState(states, "payments/0", 2, "fail due");
			assertThat(state(states, "audit/0")).isEqualTo(Map.of("x0", 1, "x1", 1, "x2", 1, "x3", 1));
			requireState(states, "replayed/0", 3, "r3");
			requireState(states, "replayed/1", 4, "r3");
			requireState(states, "news/0", 1, "n2");
		});
	}

	/** Requires what {@link Journal#count} writes: a number, a text and JSON. */
	private static void requireState(ShardStateReader states, String shard, int count, String last) {
		Map<String, Object> state = state(states, shard);
		assertThat(state).as(shard).containsEntry("count", count).containsEntry("text", TEXT + last);
		assertThat(state).extractingByKey("order").as(shard).hasFieldOrPropertyWithValue("item", last);
		assertThat(state).as(shard).hasSize(3);
	}

	private static Map<String, Object> state(ShardStateReader states, String shard) {
		int slash = shard.indexOf('/');
		return states.read(new ShardId(shard.substring(0, slash), shard.substring(slash + 1)), Object.class);
	}

	private static void requireStoredLetters(DeadLetters letters) {
		assertThat(letters(letters, "orders")).singleElement().satisfies((letter) -> {
			assertThat(letter.shard()).isEqualTo(ORDERS_1);
			assertThat(letter.group()).isEqualTo(GROUP);
			assertThat(letter.key()).isEqualTo("ann");
			assertThat(letter.text()).isEqualTo("fail b2");
			assertThat(letter.headers()).isEqualTo(Map.of("tenant", "acme"));
			assertThat(letter.attempts()).isEqualTo(2);
			assertThat(letter.exception()).isEqualTo("java.lang.IllegalStateException: cannot handle fail b2");
			assertThat(letter.stackTrace()).startsWith(letter.exception()).contains("\n\tat ", "Orders.handle");
			assertThat(letter.failedAt()).isBetween(letter.timestamp().minusSeconds(5),
					letter.timestamp().plusSeconds(60));
			assertThat(letter.timestamp()).isBetween(Instant.parse("2026-11-01T00:00:00Z"), Instant.now());
			assertThat(letters.find(letter.id())).contains(letter);
		});
		assertThat(letters(letters, "audit")).singleElement().satisfies((letter) -> {
			assertThat(letter.attempts()).as("never called with it").isZero();
			assertThat(letter.text()).isEqualTo("no JSON");
			assertThat(letter.key()).isNull();
			assertThat(letter.headers()).isEmpty();
			assertThat(letter.exception()).startsWith("io.github.shardkeeper.source.PayloadConversionException: ")
				.contains("Unrecognized token 'no'");
		});
		assertThat(letters.waiting("payments")).containsEntry(ShardId.of("payments", 0), 2L);
	}

	private static List<DeadLetter> letters(DeadLetters letters, String topic) {
		return letters.list(DeadLetterFilter.topic(topic), null, 10).letters();
	}

	private static void requireRetiredTopic(ConfigurableApplicationContext reader) {
		eventually(() -> assertThat(health(reader).getDetails().get("retired")).asString()
			.contains("'old': old/0, old/1"));
		assertThat(reader.getBean(RetiredTopics.class).forget("old")).isEqualTo(2);
	}

	private static void requireHealthy(ConfigurableApplicationContext instance) {
		eventually(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
			assertThat(health(instance).getDetails()).doesNotContainKeys("retired", "unattended", "refused");
			assertThat(report(instance)).hasSize(8).extracting(ShardReport::state).containsOnly("OWNED");
		});
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	private static List<ShardReport> report(ConfigurableApplicationContext instance) {
		GroupReport report = instance.getBean(GroupReporter.class).report();
		assertThat(report.error()).isNull();
		return report.shards();
	}

	/** Returns the token of each shard's last owner; the format is in the reference. */
	private static Map<String, Long> storedTokens(EmbeddedRedis redis) {
		Map<String, Long> tokens = new TreeMap<>();
		redis.call((commands) -> commands.hgetall(PREFIX + ":{" + GROUP + "}:shards")).forEach((shard, record) -> {
			if (!shard.equals("#")) {
				tokens.put(shard, Long.parseLong(record.split("\\|")[1]));
			}
		});
		return tokens;
	}

	/** Writes a dump of this version. */
	@Test
	@EnabledIfSystemProperty(named = "shardkeeper.dump", matches = ".+")
	void writeDump() throws IOException {
		try (EmbeddedRedis redis = startRedis()) {
			ConfigurableApplicationContext watcher = start(redis, Watching.class, "watcher");
			send(watcher, "news", 0, "n1");
			Offset last = writeWhatIsHandled(redis, watcher);
			ConfigurableApplicationContext one = start(redis, WritingAgain.class, "one", "shardkeeper.version=1.1");
			writeUnhandledRecords(watcher, last);
			// Its share is on its way to it, and stays so while the handlers of one wait.
			ConfigurableApplicationContext two = start(redis, WritingAgain.class, "two", "shardkeeper.version=1.1");
			eventually(() -> assertThat(report(watcher)).extracting(ShardReport::state).contains("REVOKING"));
			Awaitility.await("load reports, besides the check entry")
				.atMost(PATIENCE)
				.until(() -> redis.<Long>call((commands) -> commands.hlen(PREFIX + ":{" + GROUP + "}:loads")) > 1);
			send(watcher, "payments", 0, "fail due");
			DeadLetters letters = watcher.getBean(DeadLetters.class);
			eventually(() -> assertThat(letters.waiting("payments")).containsEntry(ShardId.of("payments", 0), 2L));
			watcher.close();
			redis.call((commands) -> commands.save());
			Files.copy(this.directory.resolve("dump.rdb"), Path.of(System.getProperty("shardkeeper.dump")),
					StandardCopyOption.REPLACE_EXISTING);
			one.getBean(Journal.class).stopped.countDown();
			two.getBean(Journal.class).stopped.countDown();
			one.close();
			two.close();
		}
	}

	private Offset writeWhatIsHandled(EmbeddedRedis redis, ConfigurableApplicationContext watcher) {
		ConfigurableApplicationContext reader = start(redis, Writing.class, "reader",
				"shardkeeper.topics.payments.consumer.retry-queue.delays=36500d", "shardkeeper.topics.old.shards=2",
				"shardkeeper.version=1.0");
		eventually(() -> assertThat(report(reader)).hasSize(9).extracting(ShardReport::state).containsOnly("OWNED"));
		assertThat(watcher.getBean(ShardTopics.class).raise("orders", 3)).isEqualTo(3);
		send(watcher, "orders", 0, "a1", "a2");
		send(watcher, "orders", 1, "b1", "fail b2", "b3");
		send(watcher, "payments", 0, "p1", "fail later");
		sendEntries(watcher, "x0");
		watcher.getBean(ShardTemplate.class).send("audit", Outgoing.of("no JSON"));
		send(watcher, "replayed", 0, "r1", "r2", "r3");
		Appended last = send(watcher, "replayed", 1, "r1", "r2", "r3").get(2);
		send(reader, "old", 0, "o1");
		send(reader, "old", 1, "o1");
		send(watcher, "prices", 0, "q1");
		Journal journal = reader.getBean(Journal.class);
		eventually(() -> assertThat(journal.handled).hasSize(15));
		eventually(() -> assertThat(report(reader)).hasSize(10));
		send(watcher, "orders", 2, "c1");
		ShardPositions positions = watcher.getBean(ShardPositions.class);
		ShardPositions.Seek seek = positions.reset(REPLAYED_0, StartPosition.EARLIEST);
		eventually(() -> assertThat(positions.progress(seek).values()).containsOnly(Progress.APPLIED));
		eventually(() -> assertThat(journal.handled).hasSize(19).doesNotContain("news/0 n1"));
		reader.close();
		return last.offset();
	}

	private void writeUnhandledRecords(ConfigurableApplicationContext watcher, Offset replayedAgain) {
		eventually(() -> assertThat(report(watcher)).filteredOn((shard) -> shard.state().equals("OWNED")).hasSize(5));
		send(watcher, "orders", 0, "stop a3", "a4");
		send(watcher, "orders", 1, "stop b4");
		send(watcher, "orders", 2, "stop c2");
		sendEntries(watcher, "stop x1", "x2", "x3");
		send(watcher, "news", 0, "n2");
		send(watcher, "prices", 0, "q2");
		ShardPositions positions = watcher.getBean(ShardPositions.class);
		positions.reset(REPLAYED_0, StartPosition.EARLIEST);
		positions.seek(REPLAYED_1, StartPosition.from(replayedAgain));
		ShardStateReader states = watcher.getBean(ShardStateReader.class);
		eventually(() -> assertThat(state(states, "audit/0")).containsKeys("x2", "x3"));
	}

	private static List<Appended> send(ConfigurableApplicationContext instance, String topic, int shard,
			String... payloads) {
		return instance.getBean(ShardTemplate.class)
			.sendAll(topic,
					Arrays.stream(payloads)
						.map((payload) -> new Outgoing("ann", payload).withHeader("tenant", "acme").toShard(shard))
						.toList());
	}

	private static void sendEntries(ConfigurableApplicationContext instance, String... texts) {
		for (String text : texts) {
			instance.getBean(ShardTemplate.class).send("audit", Outgoing.of(new Entry(text)));
		}
	}

	/** Starts a Redis on the file in the directory, if there is one. */
	private EmbeddedRedis startRedis() {
		return EmbeddedRedis.start("--dir", this.directory.toString(), "--dbfilename", "dump.rdb");
	}

	private ConfigurableApplicationContext start(EmbeddedRedis redis, Class<?> application, String name,
			String... properties) {
		List<String> all = new ArrayList<>(List.of(properties));
		all.add("spring.data.redis.port=" + redis.port());
		return this.instances.start(application, name, all.toArray(String[]::new));
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Watching {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Payments.class, Audit.class, Replayed.class, News.class, Prices.class })
	static class Reading {

		@Bean
		Journal journal() {
			return new Journal(false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Payments.class, Audit.class, Replayed.class, News.class, Prices.class, Old.class })
	static class Writing {

		@Bean
		Journal journal() {
			return new Journal(true);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Payments.class, Audit.class })
	static class WritingAgain {

		@Bean
		Journal journal() {
			return new Journal(true);
		}

	}

	/** Records that an instance has handled, in order. */
	static final class Journal {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		/** Whether what begins with "fail" fails, and what begins with "stop" waits. */
		private final boolean writing;

		private final CountDownLatch stopped = new CountDownLatch(1);

		Journal(boolean writing) {
			this.writing = writing;
		}

		private void count(ShardRecord<String> record, ShardState state) throws InterruptedException {
			state.increment("count", 1);
			state.put("text", TEXT + record.payload());
			state.put("order", new Order(record.key(), record.payload(), record.headers(), 12.5));
			handle(record.shard(), record.payload());
		}

		private void handle(ShardId shard, String text) throws InterruptedException {
			if (this.writing && text.startsWith("fail")) {
				throw new IllegalStateException("cannot handle " + text);
			}
			if (this.writing && text.startsWith("stop")) {
				this.stopped.await();
			}
			this.handled.add(shard + " " + text);
		}

	}

	record Order(String customer, String item, Map<String, String> headers, double amount) {

	}

	record Entry(String text) {

	}

	record Orders(Journal journal) {

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state) throws InterruptedException {
			this.journal.count(record, state);
		}

	}

	record Payments(Journal journal) {

		@ShardConsumer("payments")
		void handle(ShardRecord<String> record, ShardState state) throws InterruptedException {
			this.journal.count(record, state);
		}

	}

	record Audit(Journal journal) {

		@ShardConsumer("audit")
		void handle(ShardRecord<Entry> record, ShardState state) throws InterruptedException {
			String text = record.payload().text();
			state.increment(text.substring(text.length() - 2), 1);
			this.journal.handle(record.shard(), text);
		}

	}

	record Replayed(Journal journal) {

		@ShardConsumer("replayed")
		void handle(ShardRecord<String> record, ShardState state) throws InterruptedException {
			this.journal.count(record, state);
		}

	}

	record News(Journal journal) {

		@ShardConsumer("news")
		void handle(ShardRecord<String> record, ShardState state) throws InterruptedException {
			this.journal.count(record, state);
		}

	}

	record Prices(Journal journal) {

		@ShardConsumer("prices")
		void handle(ShardRecord<String> record, ShardState state) throws InterruptedException {
			this.journal.count(record, state);
		}

	}

	record Old(Journal journal) {

		@ShardConsumer("old")
		void handle(ShardRecord<String> record, ShardState state) throws InterruptedException {
			this.journal.count(record, state);
		}

	}

}
