package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

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
import io.github.shardkeeper.test.EmbeddedRedisSentinel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Scripts count a subscription only if it is held at the node where they run, so it has
 * to be there, and follow when another node serves the slot.
 */
@Tag("proof")
class RedisSubscriptionTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final LuaScript COUNT = script("return redis.call('PUBSUB', 'NUMSUB', ARGV[1])[2]");

	/** A write, so that a replica refuses it. */
	private static final LuaScript PUBLISH = script(
			"redis.call('SET', KEYS[1], 'published') return redis.call('PUBLISH', ARGV[1], '!')");

	private final String key = "{" + UUID.randomUUID() + "}";

	private final String channel = this.key + ":channel";

	private final AtomicInteger messages = new AtomicInteger();

	private LettuceConnectionFactory factory;

	private RedisConnector connector;

	private RedisLink<String> link;

	private static LuaScript script(String text) {
		return new LuaScript("test.lua", text, ScriptOutputType.INTEGER);
	}

	private void connect(LettuceConnectionFactory connections) {
		this.factory = connections;
		this.connector = new RedisConnector(connections);
		this.link = new RedisLink<>(this.connector, StringCodec.UTF8, TIMEOUT);
	}

	@AfterEach
	void close() {
		if (this.factory != null) {
			this.link.close();
			this.connector.stop();
			this.factory.destroy();
		}
	}

	@Test
	void scriptsCountTheSubscriptionUntilItIsClosed() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			connect(RedisClients.factory(cluster));
			// One for each node, whatever node the client asks first.
			for (String tag : List.of("{a}", "{b}", "{c}", "{d}", "{e}", "{f}")) {
				RedisSubscription subscription = RedisSubscription.open(this.connector, tag, TIMEOUT, () -> {
				});
				assertThat(subscription.isOpen()).isTrue();
				assertThat(this.link.<Long>run(COUNT, List.of(tag), List.of(tag))).isEqualTo(1);
				subscription.close();
				assertThat(subscription.isOpen()).isFalse();
				Awaitility.await()
					.atMost(PATIENCE)
					.until(() -> this.link.<Long>run(COUNT, List.of(tag), List.of(tag)) == 0);
			}
		}
	}

	@Test
	void subscriptionFollowsTheMasterOfItsSlot() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.startWithReplicas(3)) {
			connect(RedisClients.factory(cluster));
			RedisSubscription subscription = open();
			cluster.switchMasterOf(this.key);
			// The old master still runs, as a replica, and has closed nothing. The client
			// learns of it when a command is redirected.
			this.link.run(PUBLISH, List.of(this.key), List.of(this.channel));
			Awaitility.await().atMost(PATIENCE).until(() -> !subscription.isOpen());
			subscription.close();
			RedisSubscription renewed = open();

			EmbeddedRedis killed = cluster.killMasterOf(this.key);
			Awaitility.await().atMost(PATIENCE).until(() -> !renewed.isOpen());
			renewed.close();
			assertThat(killed.isRunning()).isFalse();
			open().close();
		}
	}

	@Test
	void subscriptionIsOpenedAtTheMasterChosenBySentinels() {
		try (EmbeddedRedisSentinel redis = EmbeddedRedisSentinel.start(1)) {
			connect(RedisClients.factory(redis));
			RedisSubscription subscription = open();
			EmbeddedRedis killed = redis.master();
			killed.killInSync();
			Awaitility.await().atMost(PATIENCE).until(() -> !subscription.isOpen());
			subscription.close();
			open().close();
			assertThat(redis.master()).isNotSameAs(killed);
		}
	}

	/** The next call asks again which node is the master. */
	@Test
	void linkLeavesANodeThatBecameAReplica() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(); EmbeddedRedis other = EmbeddedRedis.start()) {
			connect(RedisClients.factory(redis));
			long before = this.link.call((commands) -> commands.clientId());
			redis.call((commands) -> commands.replicaof("127.0.0.1", other.port()));

			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> this.link.run(PUBLISH, List.of(this.key), List.of(this.channel)))
				.withMessageContaining("READONLY");
			long after = this.link.call((commands) -> commands.clientId());
			assertThat(after).isNotEqualTo(before);
		}
	}

	/** Retries until there is a master again, as a member does. */
	private RedisSubscription open() {
		RedisSubscription[] opened = new RedisSubscription[1];
		Awaitility.await().atMost(PATIENCE).ignoreExceptionsInstanceOf(StoreUnavailableException.class).until(() -> {
			opened[0] = RedisSubscription.open(this.connector, this.channel, TIMEOUT, this.messages::incrementAndGet);
			return true;
		});
		assertThat(opened[0].isOpen()).isTrue();
		int before = this.messages.get();
		awaitPublished();
		Awaitility.await().atMost(PATIENCE).until(() -> this.messages.get() > before);
		assertThat(this.link.<Long>run(COUNT, List.of(this.key), List.of(this.channel))).isEqualTo(1);
		return opened[0];
	}

	private void awaitPublished() {
		Awaitility.await()
			.atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.until(() -> this.link.run(PUBLISH, List.of(this.key), List.of(this.channel)) != null);
	}

}
