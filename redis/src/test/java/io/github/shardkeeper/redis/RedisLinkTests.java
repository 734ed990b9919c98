package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.StringCodec;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Commands that are sent without waiting have the same limits as others.
 */
@Tag("proof")
class RedisLinkTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final LuaScript INCREMENT = script("return redis.call('INCR', KEYS[1])");

	private final String key = UUID.randomUUID().toString();

	private LettuceConnectionFactory factory;

	private RedisConnector connector;

	private RedisLink<String> link;

	private static LuaScript script(String text) {
		return new LuaScript("test.lua", text, ScriptOutputType.INTEGER);
	}

	private void connect(LettuceConnectionFactory connections, Duration timeout) {
		this.factory = connections;
		this.connector = new RedisConnector(connections);
		this.link = new RedisLink<>(this.connector, StringCodec.UTF8, timeout);
	}

	@AfterEach
	void close() {
		this.link.close();
		this.connector.stop();
		this.factory.destroy();
	}

	@Test
	void sendDoesNotWaitAndEveryCommandIsAnsweredOnce() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), PATIENCE);
			redis.freeze();
			List<CompletableFuture<Long>> replies = IntStream.range(0, 1_000).mapToObj((i) -> increment()).toList();
			assertThat(replies).noneMatch(CompletableFuture::isDone);

			redis.thaw();

			assertThat(replies.stream().map(RedisLinkTests::await))
				.containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 1_000).mapToObj(Long::valueOf).toList());
		}
	}

	@Test
	void unknownScriptIsSentAgainWithItsText() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), PATIENCE);
			assertThat(await(increment())).isEqualTo(1);
			redis.call((commands) -> commands.scriptFlush());
			assertThat(await(increment())).isEqualTo(2);
		}
	}

	@Test
	void answeredScriptsAreTimed() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), PATIENCE);
			await(increment());
			List<String> timed = new CopyOnWriteArrayList<>();
			this.connector.onScriptAnswered((script, duration) -> {
				assertThat(duration).isPositive().isLessThan(PATIENCE);
				timed.add(script);
			});

			await(increment());
			this.link.run(INCREMENT, List.of(this.key), List.of());
			this.link.runAll(INCREMENT, List.of(List.of(this.key), List.of("other")), List.of());
			redis.call((commands) -> commands.scriptFlush());
			await(increment());
			assertThat(timed).containsExactly("test.lua", "test.lua", "test.lua", "test.lua");

			redis.call((commands) -> commands.lpush("list", "no number"));
			assertUnavailable(this.link.<Long>send(INCREMENT, List.of("list"), List.of()), "WRONGTYPE");
			assertThat(timed).as("refused").hasSize(4);
		}
	}

	@Test
	void scriptErrorFailsTheAnswer() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), PATIENCE);
			redis.call((commands) -> commands.lpush(this.key, "no number"));
			assertUnavailable(increment(), "WRONGTYPE");
			assertThat(await(this.link.<Long>send(INCREMENT, List.of("other"), List.of()))).isEqualTo(1);
		}
	}

	@Test
	void connectionIsReplacedAfterTwoTimeouts() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), Duration.ofSeconds(1));
			awaitIncremented();
			long before = this.link.call((commands) -> commands.clientId());
			redis.freeze();
			CompletableFuture<Long> first = increment();
			CompletableFuture<Long> second = increment();
			assertUnavailable(first, "no reply within 1000 ms");
			assertUnavailable(second, "no reply within 1000 ms");
			redis.thaw();

			Awaitility.await()
				.atMost(PATIENCE)
				.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
				.until(() -> this.link.call((commands) -> commands.clientId()) != before);
		}
	}

	@Test
	void answeredErrorResetsTheCountOfTimeouts() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), Duration.ofSeconds(1));
			redis.call((commands) -> commands.lpush(this.key, "no number"));
			assertUnavailable(increment(), "WRONGTYPE");
			long before = this.link.call((commands) -> commands.clientId());
			for (int i = 0; i < 2; i++) {
				redis.freeze();
				assertUnavailable(increment(), "no reply within 1000 ms");
				redis.thaw();
				assertUnavailable(increment(), "WRONGTYPE");
			}

			assertThat(this.link.<Long>call((commands) -> commands.clientId())).isEqualTo(before);
		}
	}

	@Test
	void pendingCommandsFailWhenRedisDiesAndTheLinkReconnects() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), PATIENCE);
			await(increment());
			redis.freeze();
			CompletableFuture<Long> underWay = increment();
			redis.kill();
			assertUnavailable(underWay, "");
			assertUnavailable(increment(), "");

			redis.restart();
			awaitIncremented();
		}
	}

	@Test
	void closedLinkSendsNothing() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis), PATIENCE);
			this.link.close();
			assertUnavailable(increment(), "closed");
		}
	}

	/** Long before the time limit: the reply of a dead node never comes. */
	@Test
	void newMasterOfTheSlotIsFoundOnACluster() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.startWithReplicas(3)) {
			connect(RedisClients.factory(cluster), Duration.ofMinutes(10));
			await(increment());
			cluster.killMasterOf(this.key);

			awaitIncremented();
		}
	}

	/** Retries until Redis replies, as workers do. */
	private void awaitIncremented() {
		Awaitility.await()
			.atMost(PATIENCE.multipliedBy(2))
			.ignoreExceptionsInstanceOf(CompletionException.class)
			.until(() -> increment().orTimeout(1, TimeUnit.MINUTES).join() > 0);
	}

	private CompletableFuture<Long> increment() {
		return this.link.send(INCREMENT, List.of(this.key), List.of());
	}

	private static <T> T await(CompletableFuture<T> reply) {
		return reply.orTimeout(1, TimeUnit.MINUTES).join();
	}

	private static void assertUnavailable(CompletableFuture<Long> reply, String message) {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> await(reply))
			.withCauseInstanceOf(StoreUnavailableException.class)
			.withMessageContaining(message);
	}

}
