package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.source.JsonPayloadConverter;
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
 * Repeated records with ids on a Redis that remembers ids itself, from 8.6 on. Skipped on
 * others, so it runs only where the environment names such a Redis.
 */
@Tag("proof")
@Promise("Sent once")
class IdsRememberedByRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration TIME_LIMIT = Duration.ofSeconds(3);

	private static final String STREAM = "sends:{orders#0}:stream:0";

	private static final String MARKER = "number-";

	private static final RecordIds IDS = new RecordIds(Duration.ofMinutes(10), 100_000);

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction", "--appendonly", "yes");

	private final AnswerLosingProxy network = new AnswerLosingProxy(this.redis.port(), MARKER);

	private final LettuceConnectionFactory connections = RedisClients.factory(this.redis);

	private final StringRedisTemplate commands = new StringRedisTemplate(this.connections);

	private final List<AutoCloseable> opened = new ArrayList<>();

	@BeforeEach
	void rememberLongEnough() {
		Assumptions.assumeFalse(
				this.redis.<Map<String, String>>call((commands) -> commands.configGet("stream-idmp-*")).isEmpty(),
				"This Redis remembers no ids; set %s to one of 8.6.2 or newer".formatted(EmbeddedRedis.BINARY));
		configure("stream-idmp-duration", "600");
		configure("stream-idmp-maxsize", "180");
	}

	private void configure(String name, String value) {
		assertThat(this.redis.<String>call((commands) -> commands.configSet(name, value))).isEqualTo("OK");
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable one : this.opened) {
			one.close();
		}
		this.connections.destroy();
		this.network.close();
		this.redis.close();
	}

	private KeyedShardTemplate template(int retries) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", this.network.port());
		factory.afterPropertiesSet();
		RedisStreamSource source = new RedisStreamSource(new RedisConnector(factory), "sends", Map.of("orders", 1),
				TIME_LIMIT, ReplicaWait.NONE, IDS);
		KeyedShardTemplate template = new KeyedShardTemplate(SendTopics.of(source::topics, source),
				new JsonPayloadConverter(new JsonMapper()), new SendSettings(100_000, 1000, 1_000_000, retries),
				Map.of(), null, SendObserver.NONE);
		this.opened.addAll(List.of(template, source, factory::destroy));
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(SendFailedException.class)
			.until(() -> template.shardFor("orders", "k") != null);
		return template;
	}

	private static Outgoing number(int number) {
		return new Outgoing("k", MARKER + number).withId("order-" + number);
	}

	private List<String> stream() {
		return this.commands.opsForStream()
			.range(STREAM, Range.unbounded())
			.stream()
			.map((entry) -> String.valueOf(entry.getValue().get("v")))
			.toList();
	}

	private void assertThatRedisRemembers() {
		assertThat(this.commands.keys("sends:*:ids:*")).as("keys of Shardkeeper's own").isEmpty();
	}

	@Test
	void recordThatItsCallerRepeatsIsInTheStreamOnce() {
		KeyedShardTemplate template = template(0);
		Appended first = template.send("orders", number(1));
		for (int lost = 0; lost < 2; lost++) {
			this.network.lose(1);
			assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> template.send("orders", number(2)))
				.matches(SendFailedException::mayHaveBeenAppended);
		}
		Appended second = template.send("orders", number(2));

		assertThat(stream()).containsExactly("number-1", "number-2");
		assertThat(template.send("orders", number(1))).isEqualTo(first);
		assertThat(template(0).send("orders", number(2))).as("of another process").isEqualTo(second);
		assertThat(stream()).hasSize(2);
		assertThatRedisRemembers();
	}

	@Test
	void recordsThatTheTemplateRepeatsAreInTheStreamOnce() {
		KeyedShardTemplate template = template(5);
		this.network.lose(3);
		List<Appended> appended = template.sendAll("orders", List.of(number(1), number(2), number(3)));

		assertThat(this.network.left()).isZero();
		assertThat(stream()).containsExactly("number-1", "number-2", "number-3");
		assertThat(template.sendAll("orders", List.of(number(2), number(4), number(1)))).hasSize(3)
			.startsWith(appended.get(1))
			.endsWith(appended.get(0));
		assertThat(stream()).containsExactly("number-1", "number-2", "number-3", "number-4");
		assertThatRedisRemembers();
	}

	/** As the one of a trimmed record. */
	@Test
	void idOfARecordThatIsTrimmedIsRemembered() {
		KeyedShardTemplate template = template(0);
		Appended first = template.send("orders", number(1));
		this.commands.opsForStream().trim(STREAM, 0);

		assertThat(template.send("orders", number(1))).isEqualTo(first);
		assertThat(stream()).isEmpty();
		assertThatRedisRemembers();
	}

	@Test
	void idsOutliveARestartAfterTheFileWasRewritten() {
		KeyedShardTemplate template = template(3);
		Appended first = template.send("orders", number(1));
		this.redis.call((commands) -> commands.bgrewriteaof());
		await().atMost(PATIENCE)
			.until(() -> info("aof_rewrite_in_progress").equals("0") && info("aof_rewrite_scheduled").equals("0")
					&& !info("aof_last_rewrite_time_sec").equals("-1"));
		Appended second = template.send("orders", number(2));
		this.redis.restart();

		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(SendFailedException.class)
			.untilAsserted(() -> assertThat(template.send("orders", number(1))).isEqualTo(first));
		assertThat(template.send("orders", number(2))).isEqualTo(second);
		assertThat(stream()).containsExactly("number-1", "number-2");
		assertThatRedisRemembers();
	}

	private String info(String name) {
		return this.redis.<String>call((commands) -> commands.info("persistence"))
			.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1).strip())
			.findFirst()
			.orElseThrow();
	}

	@Test
	void streamThatWasCreatedWithAShorterMemoryIsNotUsed() {
		configure("stream-idmp-duration", "100");
		this.commands.opsForStream().add(STREAM, Map.of("v", "number-0"));
		configure("stream-idmp-duration", "600");
		KeyedShardTemplate template = template(0);
		Appended first = template.send("orders", number(1));

		assertThat(template.send("orders", number(1))).isEqualTo(first);
		assertThat(stream()).containsExactly("number-0", "number-1");
		assertThat(this.commands.keys("sends:*:ids:*")).as("keys of Shardkeeper's own").isNotEmpty();
	}

}
