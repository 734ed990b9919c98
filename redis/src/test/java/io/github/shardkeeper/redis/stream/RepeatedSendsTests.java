package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Sends whose replies are lost, and that are repeated by the template or by its caller.
 */
@OnEveryRedis
@Promise("Sent once")
class RepeatedSendsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** Replies on a busy machine; two in a row without one close a connection. */
	private static final Duration TIME_LIMIT = Duration.ofSeconds(3);

	private static final String STREAM = "sends:{orders#0}:stream:0";

	/** Every payload begins with it. */
	private static final String MARKER = "number-";

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");

	private final AnswerLosingProxy network = new AnswerLosingProxy(this.redis.port(), MARKER);

	private final LettuceConnectionFactory connections = RedisClients.factory(this.redis);

	private final StringRedisTemplate commands = new StringRedisTemplate(this.connections);

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable one : this.opened) {
			one.close();
		}
		this.connections.destroy();
		this.network.close();
		this.redis.close();
	}

	private RedisStreamSource source(RecordIds ids) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", this.network.port());
		factory.afterPropertiesSet();
		RedisStreamSource source = new RedisStreamSource(new RedisConnector(factory), "sends", Map.of("orders", 1),
				TIME_LIMIT, ReplicaWait.NONE, ids);
		this.opened.add(source);
		this.opened.add(factory::destroy);
		return source;
	}

	private KeyedShardTemplate template(int retries, RecordIds ids) {
		RedisStreamSource source = source(ids);
		KeyedShardTemplate template = new KeyedShardTemplate(SendTopics.of(source::topics, source),
				new JsonPayloadConverter(new JsonMapper()), new SendSettings(100_000, 1000, 1_000_000, retries),
				Map.of(), null, SendObserver.NONE);
		this.opened.add(0, template);
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(SendFailedException.class)
			.until(() -> template.shardFor("orders", "k") != null);
		return template;
	}

	private KeyedShardTemplate template(int retries) {
		return template(retries, RecordIds.DEFAULT);
	}

	private List<String> stream() {
		return this.commands.opsForStream()
			.range(STREAM, Range.unbounded())
			.stream()
			.map((entry) -> String.valueOf(entry.getValue().get("v")))
			.toList();
	}

	private List<String> offsets() {
		return this.commands.opsForStream()
			.range(STREAM, Range.unbounded())
			.stream()
			.map(MapRecord::getId)
			.map(Object::toString)
			.toList();
	}

	private static Outgoing number(int number) {
		return new Outgoing("k", MARKER + number);
	}

	private static void assertUnknown(Runnable send) {
		assertThatExceptionOfType(SendFailedException.class).isThrownBy(send::run)
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isTrue());
	}

	/** What the others would find without retries and ids. */
	@Test
	void recordThatIsRepeatedWithoutAnIdIsInTheStreamTwice() {
		KeyedShardTemplate template = template(0);
		this.network.lose(1);
		assertUnknown(() -> template.send("orders", number(1)));
		template.send("orders", number(1));

		assertThat(stream()).containsExactly("number-1", "number-1");
	}

	@Test
	void recordThatTheTemplateRepeatsIsInTheStreamOnce() {
		KeyedShardTemplate template = template(5);
		this.network.lose(3);
		Appended appended = template.send("orders", number(1));

		assertThat(this.network.left()).isZero();
		assertThat(stream()).containsExactly("number-1");
		assertThat(appended.offset().value()).isEqualTo(offsets().get(0));
		assertThat(this.commands.keys("sends:*:ids:*")).as("what needs no ids pays for none").isEmpty();
	}

	@Test
	void recordThatIsRepeatedWithItsIdIsInTheStreamOnce() {
		KeyedShardTemplate template = template(0);
		this.network.lose(1);
		assertUnknown(() -> template.send("orders", number(1).withId("order-1")));
		Appended again = template.send("orders", number(1).withId("order-1"));
		// After a restart.
		Appended later = template(2).send("orders", number(1).withId("order-1"));
		template.send("orders", number(2).withId("order-2"));

		assertThat(stream()).containsExactly("number-1", "number-2");
		assertThat(List.of(again, later)).extracting((appended) -> appended.offset().value())
			.containsOnly(offsets().get(0));
	}

	@Test
	void orderIsKeptWhileRecordsAreRepeated() throws Exception {
		KeyedShardTemplate template = template(20);
		List<CompletableFuture<Appended>> sent = new ArrayList<>();
		int count = 2000;
		for (int i = 0; i < count; i++) {
			if (i % 400 == 50) {
				this.network.lose(1);
			}
			sent.add(template.sendAsync("orders", (i % 7 == 0) ? number(i).withId("id-" + i) : number(i)));
		}
		for (CompletableFuture<Appended> one : sent) {
			one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}

		assertThat(this.network.left()).isZero();
		assertThat(stream()).containsExactlyElementsOf(IntStream.range(0, count).mapToObj((i) -> MARKER + i).toList());
		assertThat(sent).extracting((one) -> one.join().offset().value()).containsExactlyElementsOf(offsets());
	}

	/** Redis executes all attempts, one after the other, once it continues. */
	@Test
	void attemptThatArrivesLateIsAppendedOnce() throws Exception {
		KeyedShardTemplate template = template(20);
		template.send("orders", number(1));
		int before = this.network.seen();
		CompletableFuture<Appended> sent;
		this.redis.freeze();
		try {
			sent = template.sendAsync("orders", number(2));
			await().atMost(PATIENCE).until(() -> this.network.seen() >= before + 2);
		}
		finally {
			this.redis.thaw();
		}
		sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		template.send("orders", number(3));

		assertThat(stream()).containsExactly("number-1", "number-2", "number-3");
	}

	@Test
	void idsAreRememberedUpToTheirNumberAndForgottenBeyondIt() {
		KeyedShardTemplate template = template(0, new RecordIds(Duration.ofHours(1), 10));
		for (int round = 0; round < 2; round++) {
			for (int i = 0; i < 10; i++) {
				template.send("orders", number(i).withId("id-" + i));
			}
		}
		assertThat(stream()).hasSize(10);

		for (int i = 10; i < 30; i++) {
			template.send("orders", number(i).withId("id-" + i));
		}
		assertThat(stream()).hasSize(30);
		assertThat(idsStored()).isLessThanOrEqualTo(2 * 11);
		template.send("orders", number(29).withId("id-29"));
		assertThat(stream()).hasSize(30);
		template.send("orders", number(0).withId("id-0"));
		assertThat(stream()).as("a window that is too short").hasSize(31);
	}

	/** The turns of the two hashes begin in the same millisecond then. */
	@Test
	void idThatIsRepeatedAtOnceIsRememberedHoweverManyFollow() {
		RedisStreamSource source = source(new RecordIds(Duration.ofHours(1), 1));
		await().atMost(PATIENCE).ignoreExceptions().until(() -> source.appendOnce(batch(0, 0)).join() != null);
		List<CompletableFuture<IdempotentAppender.Appended>> sent = new ArrayList<>();
		for (int i = 1; i < 400; i++) {
			sent.add(source.appendOnce(batch(i, i / 2)));
		}
		sent.forEach(CompletableFuture::join);

		assertThat(stream()).containsExactlyElementsOf(IntStream.range(0, 200).mapToObj((i) -> MARKER + i).toList());
	}

	/** Each from a producer of its own, so that all are sent at once. */
	private static IdempotentAppender.Batch batch(int producer, int number) {
		NewRecord newRecord = new NewRecord(ShardId.of("orders", 0), "k", (MARKER + number).getBytes(), Map.of(),
				"id-" + number);
		return new IdempotentAppender.Batch("producer-" + producer, 1, List.of(newRecord));
	}

	@Test
	void idIsRememberedAlthoughTheClockWasSetBack() {
		KeyedShardTemplate template = template(0, new RecordIds(Duration.ofHours(2), 2));
		template.send("orders", number(0).withId("id-0"));
		template.send("orders", number(1).withId("id-1"));
		this.commands.keys("sends:*:ids:*").forEach((key) -> {
			String begun = String.valueOf(this.commands.opsForHash().get(key, ""));
			this.commands.opsForHash().put(key, "", begun.replaceAll("[0-9]+$", "4070908800000"));
		});
		for (int i = 2; i < 20; i++) {
			template.send("orders", number(i).withId("id-" + i));
			template.send("orders", number(i).withId("id-" + i));
			template.send("orders", number(i - 1).withId("id-" + (i - 1)));
		}

		assertThat(stream()).containsExactlyElementsOf(IntStream.range(0, 20).mapToObj((i) -> MARKER + i).toList());
	}

	/** Not only after a day, if the clock was a day ahead. */
	@Test
	void idIsForgottenAfterItsTimeAlthoughTheClockWasSetBack() {
		KeyedShardTemplate template = template(0, new RecordIds(Duration.ofMillis(200), 100_000));
		template.send("orders", number(1).withId("id"));
		this.commands.keys("sends:*:ids:*").forEach((key) -> {
			String begun = String.valueOf(this.commands.opsForHash().get(key, ""));
			this.commands.opsForHash().put(key, "", begun.replaceAll("[0-9]+$", "4070908800000"));
		});

		await().atMost(PATIENCE).until(() -> {
			template.send("orders", number(1).withId("id"));
			return stream().size() > 1;
		});
	}

	private long idsStored() {
		return this.commands.keys("sends:*:ids:*")
			.stream()
			.mapToLong((key) -> this.commands.opsForHash().size(key) - 1)
			.sum();
	}

	/** From 8.6 on, Redis itself remembers so few for longer, but not that many. */
	@Test
	void idIsForgottenAfterItsTime() {
		KeyedShardTemplate template = template(0, new RecordIds(Duration.ofMillis(1), 100_000));
		template.send("orders", number(1).withId("id"));

		await().atMost(PATIENCE).until(() -> {
			template.send("orders", number(1).withId("id"));
			return stream().size() > 1;
		});
	}

	@Test
	void everythingBesideTheStreamExpires() {
		KeyedShardTemplate template = template(1);
		template.send("orders", number(1).withId("id"));

		assertThat(this.commands.keys("sends:{orders#0}:*")).hasSize(3);
		assertThat(this.commands.getExpire("sends:{orders#0}:ids:0:0")).isBetween(1100L, 1200L);
		assertThat(this.commands.keys("sends:{orders#0}:producer:0:*")).singleElement()
			.satisfies((key) -> assertThat(this.commands.getExpire(key)).isBetween(3500L, 3600L));
		assertThat(this.commands.getExpire(STREAM)).isEqualTo(-1);
	}

	@Test
	void fullRedisRefusesAndTakesTheSameRecordLater() {
		KeyedShardTemplate template = template(3);
		template.send("orders", number(1).withId("id-1"));
		this.redis.call((commands) -> commands.configSet("maxmemory", "1"));
		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> template.send("orders", number(2).withId("id-2")))
			.withMessageContaining("OOM command not allowed")
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isFalse());
		this.redis.call((commands) -> commands.configSet("maxmemory", "0"));
		template.send("orders", number(2).withId("id-2"));

		assertThat(stream()).containsExactly("number-1", "number-2");
	}

	@Test
	void keyOfAnotherTypeIsNamedAndNothingIsAppended() {
		KeyedShardTemplate template = template(3);
		for (String key : List.of("sends:{orders#0}:ids:0:1", STREAM)) {
			this.commands.opsForList().leftPush(key, "something else");
			assertThatExceptionOfType(SendFailedException.class)
				.isThrownBy(() -> template.send("orders", number(1).withId("id-1")))
				.withMessageContaining("WRONGTYPE")
				.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isFalse());
			this.commands.delete(key);
			assertThat(this.commands.hasKey(STREAM)).isFalse();
		}
		template.send("orders", number(1).withId("id-1"));

		assertThat(stream()).containsExactly("number-1");
	}

	@Test
	void tooManyHeadersForAScriptAreRefused() {
		KeyedShardTemplate template = template(3);
		Map<String, String> headers = new HashMap<>();
		IntStream.range(0, 3000).forEach((i) -> headers.put("h" + i, ""));
		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> template.send("orders", new Outgoing("k", "many", headers, null)))
			.withMessageContaining("more than 3000 headers")
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isFalse());
		headers.keySet().removeIf((name) -> name.endsWith("0"));
		template.send("orders", new Outgoing("k", "fewer", headers, null));

		assertThat(stream()).containsExactly("fewer");
	}

}
