package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A template on a Redis that may go.
 */
@OnEveryRedis
class RedisSendingTests {

	private static final int SHARDS = 8;

	private static final Duration TIME_LIMIT = Duration.ofSeconds(2);

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final LettuceConnectionFactory connections = RedisClients.factory(this.redis);

	private final StringRedisTemplate commands = new StringRedisTemplate(this.connections);

	private final RedisStreamSource source = source(TIME_LIMIT);

	private final KeyedShardTemplate template = template(this.source);

	private RedisStreamSource source(Duration timeLimit) {
		return new RedisStreamSource(new RedisConnector(this.connections), "sends", Map.of("orders", SHARDS),
				timeLimit);
	}

	private static KeyedShardTemplate template(RedisStreamSource source) {
		return new KeyedShardTemplate(SendTopics.of(source::topics, source), new JsonPayloadConverter(new JsonMapper()),
				SendSettings.DEFAULT, Map.of(), null, SendObserver.NONE);
	}

	@BeforeEach
	void connect() {
		awaitSent(0);
	}

	@AfterEach
	void close() {
		this.template.close();
		this.source.close();
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void recordsAreAppendedInTheOrderOfSending() {
		int count = 50_000;
		List<CompletableFuture<Appended>> sent = new ArrayList<>(count);
		try (RedisStreamSource patient = source(Duration.ofSeconds(60));
				KeyedShardTemplate sending = template(patient)) {
			for (int i = 0; i < count; i++) {
				sent.add(sending.sendAsync("orders", "key-" + i % 50, "payload " + i));
			}
		}

		Map<ShardId, String> last = new HashMap<>();
		for (CompletableFuture<Appended> future : sent) {
			Appended appended = future.join();
			String before = last.put(appended.shard(), appended.offset().value());
			assertThat(before == null || isBefore(before, appended.offset().value())).isTrue();
		}
		long length = IntStream.range(0, SHARDS).mapToLong((shard) -> length(shard)).sum();
		assertThat(length).isGreaterThan(count);
	}

	/** The client's own timers, if it has any, are no more than a second watch. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void withoutAnAnswerInTimeARecordMayHaveBeenAppended(boolean timersOfTheClient) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", this.redis.port()),
				LettuceClientConfiguration.builder()
					.clientOptions(ClientOptions.builder()
						.timeoutOptions(timersOfTheClient ? TimeoutOptions.enabled() : TimeoutOptions.create())
						.build())
					.build());
		factory.afterPropertiesSet();
		try (RedisStreamSource waiting = new RedisStreamSource(new RedisConnector(factory), "sends",
				Map.of("orders", SHARDS), TIME_LIMIT); KeyedShardTemplate sending = template(waiting)) {
			await().atMost(Duration.ofSeconds(20))
				.ignoreExceptions()
				.until(() -> sending.send("orders", "a", 0) != null);
			this.redis.freeze();
			List<CompletableFuture<Appended>> sent = List.of(sending.sendAsync("orders", "a", 1),
					sending.sendAsync("orders", "a", 2));

			sent.forEach((future) -> assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> future.get(20, TimeUnit.SECONDS))
				.withMessageContaining("no reply within 2000 ms")
				.havingCause()
				.isInstanceOfSatisfying(SendFailedException.class,
						(ex) -> assertThat(ex.mayHaveBeenAppended()).isTrue()));
			this.redis.thaw();
			await().atMost(Duration.ofSeconds(20))
				.ignoreExceptions()
				.until(() -> sending.send("orders", "a", 3) != null);
		}
		finally {
			this.redis.thaw();
			factory.destroy();
		}
	}

	@Test
	void recordsWithoutAnswerMayHaveBeenAppended() {
		this.redis.freeze();
		CompletableFuture<Appended> sent = this.template.sendAsync("orders", "a", 1);
		this.redis.kill();

		assertThatExceptionOfType(CompletionException.class).isThrownBy(sent::join)
			.havingCause()
			.isInstanceOfSatisfying(SendFailedException.class, (ex) -> assertThat(ex.mayHaveBeenAppended()).isTrue());
	}

	@Test
	void nothingIsSentWithoutAConnection() {
		this.redis.kill();
		// Until the loss is known, a record may be on its way into nowhere.
		await().atMost(Duration.ofSeconds(20)).until(() -> !mayHaveBeenAppended());
		assertThat(mayHaveBeenAppended()).isFalse();

		this.redis.restart();
		awaitSent(1);
	}

	private boolean mayHaveBeenAppended() {
		try {
			this.template.send("orders", "a", 1);
			throw new AssertionError("nobody is there");
		}
		catch (SendFailedException ex) {
			return ex.mayHaveBeenAppended();
		}
	}

	@Test
	void refusedRecordIsNotAppendedAndOthersAre() {
		this.commands.opsForValue().set("sends:{orders#1}:stream:1", "no stream");
		List<CompletableFuture<Appended>> sent = IntStream.range(0, 3)
			.mapToObj((shard) -> this.template.sendAsync("orders", new Outgoing("a", shard).toShard(shard)))
			.toList();
		this.template.flush();

		assertThat(sent.get(0)).isCompleted();
		assertThat(sent.get(2)).isCompleted();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> sent.get(1).join())
			.havingCause()
			.isInstanceOfSatisfying(SendFailedException.class, (ex) -> {
				assertThat(ex).hasMessageContaining("orders/1").hasMessageContaining("WRONGTYPE");
				assertThat(ex.mayHaveBeenAppended()).isFalse();
			});
		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> this.template.sendAll("orders",
					List.of(new Outgoing("a", 1).toShard(1), new Outgoing("a", 1).toShard(0))))
			.withMessageContaining("WRONGTYPE")
			.satisfies((ex) -> assertThat(ex.mayHaveBeenAppended()).isTrue());
	}

	@Test
	void recordMayBeSentFromTheFutureOfAnother() {
		CompletableFuture<Appended> chained = this.template.sendAsync("orders", new Outgoing("a", 1).toShard(1));
		for (int i = 0; i < 100; i++) {
			chained = chained
				.thenCompose((appended) -> this.template.sendAsync("orders", new Outgoing("a", 1).toShard(1)));
		}

		chained.join();
		assertThat(length(1)).isEqualTo(101);
	}

	private void awaitSent(int shard) {
		await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> {
			this.template.send("orders", new Outgoing("a", 1).toShard(shard));
			return true;
		});
	}

	private long length(int shard) {
		return this.commands.opsForStream().size("sends:{orders#%d}:stream:%d".formatted(shard, shard));
	}

	private static boolean isBefore(String one, String other) {
		long[] ids = List.of(one, other)
			.stream()
			.flatMap((id) -> List.of(id.split("-")).stream())
			.mapToLong(Long::parseLong)
			.toArray();
		return ids[0] < ids[2] || ids[0] == ids[2] && ids[1] < ids[3];
	}

}
