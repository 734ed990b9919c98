package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * The number of shards of a topic is stored in Redis, and can be raised during use.
 */
@OnEveryRedis
@ExtendWith(OutputCaptureExtension.class)
class StreamShardCountsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final String prefix = UUID.randomUUID().toString();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final List<AutoCloseable> open = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable closeable : this.open) {
			closeable.close();
		}
	}

	@Test
	void firstInstanceWritesTheConfiguredCount() {
		assertThat(count(source(4))).isEqualTo(4);
		assertThat(stored()).isEqualTo("4");
	}

	@Test
	void laterInstancesFollowRedisRatherThanTheirConfiguration() {
		count(source(4));

		assertThat(count(source(8))).isEqualTo(4);
		assertThat(count(source(2))).isEqualTo(4);
		assertThat(stored()).isEqualTo("4");
	}

	@Test
	void raiseIsKnownToItsCallerAtOnce() {
		RedisStreamSource source = source(4);
		count(source);

		assertThat(source.raise("orders", 6)).isEqualTo(6);
		assertThat(count(source)).isEqualTo(6);
		assertThat(source.raise("orders", 6)).isEqualTo(6);
		assertThat(stored()).isEqualTo("6");
	}

	@Test
	void countCannotBeLowered() {
		RedisStreamSource source = source(4);

		assertThatIllegalArgumentException().isThrownBy(() -> source.raise("orders", 3))
			.withMessageContaining("has 4 shards already");
		assertThatIllegalArgumentException().isThrownBy(() -> source.raise("orders", 100_001));
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> source.raise("visits", 100));
		assertThat(stored()).isEqualTo("4");
	}

	@Test
	@Tag("proof")
	void consumerDetectsNewShardsWhileItReads() throws InterruptedException {
		RedisStreamSource consumer = source(4);
		AtomicInteger heard = new AtomicInteger();
		this.open.add(consumer.watch(heard::incrementAndGet));
		ShardReader reader = consumer.openReader();
		this.open.add(reader);
		assertThat(count(consumer)).isEqualTo(4);
		int before = heard.get();

		source(4).raise("orders", 5);

		await().atMost(PATIENCE).until(() -> {
			reader.poll();
			return heard.get() > before;
		});
		assertThat(consumer.topics()).isEqualTo(Map.of("orders", TopicShards.count(5)));
	}

	@Test
	@Tag("proof")
	void producerSendsToNewShardsSoon() {
		ShardTemplate template = template(source(4));
		template.send("orders", "key", 1);

		source(4).raise("orders", 1000);

		await().atMost(PATIENCE)
			.until(() -> template.send("orders", "key", 1).shard().equals(template.shardFor("orders", "key"))
					&& template.shardFor("orders", "key").equals(ShardId.of("orders", hash("key") % 1000)));
	}

	@Test
	void sendingFromAFutureDoesNotWaitForARefresh() {
		ShardTemplate template = template(source(4));

		CompletableFuture<Appended> chained = template.sendAsync("orders", "key", 1);
		for (int i = 0; i < 20; i++) {
			chained = chained.thenCompose((appended) -> template.sendAsync("orders", new Outgoing("key", 2)));
		}
		assertThat(chained).succeedsWithin(PATIENCE);
	}

	@Test
	void countIsWrittenAgainAfterRedisWasEmptied() {
		RedisStreamSource source = source(4);
		source.raise("orders", 6);
		this.redis.delete(key());

		assertThat(source.shards("orders")).isEqualTo(6);
		assertThat(stored()).isEqualTo("6");
	}

	@Test
	@Promise("Nothing lost")
	void lostRaiseIsWrittenBack(CapturedOutput output) {
		RedisStreamSource source = source(4);
		source.raise("orders", 16);
		this.redis.opsForHash().put(key(), "shards", "8");

		assertThat(source.shards("orders")).isEqualTo(16);
		assertThat(stored()).isEqualTo("16");
		assertThat(count(source(4))).as("who starts now").isEqualTo(16);
		assertThat(output).contains("Redis has lost a raise: it has 8 shards for 'orders', but there were 16");
	}

	@Test
	@Tag("proof")
	void consumersAndProducersDetectALostCount() {
		RedisStreamSource source = source(4);
		source.raise("orders", 16);
		this.redis.opsForHash().put(key(), "shards", "8");

		await().atMost(PATIENCE).until(() -> {
			source.topics();
			return "16".equals(stored());
		});
	}

	@Test
	void knownCountNeverBecomesLower() {
		RedisStreamSource source = source(4);
		source.raise("orders", 16);
		this.redis.opsForHash().put(key(), "shards", "8");

		assertThatIllegalArgumentException().isThrownBy(() -> source.raise("orders", 12))
			.withMessageContaining("has 16 shards already");
		assertThat(stored()).isEqualTo("16");
	}

	@Test
	@Promise("Nothing lost")
	void recordsAboveTheCountAreReportedUntilTheTopicIsRaised(CapturedOutput output) {
		RedisStreamSource before = source(8);
		before.raise("orders", 16);
		template(before).send("orders", new Outgoing(null, 1, Map.of(), 11));
		this.redis.opsForHash().put(key(), "shards", "8");
		RedisStreamSource after = source(8);
		assertThat(count(after)).isEqualTo(8);

		String stream = this.prefix + ":{orders#11}:stream:11";
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(after.problems().get("orders")).contains("has 8 shards", "shard 11", stream,
					"ShardTopics.raise(\"orders\", 12)", "DEL"));
		assertThat(output.getOut().lines().filter((line) -> line.contains("WARN") && line.contains(stream))).hasSize(1);
		after.raise("orders", 16);
		await().atMost(PATIENCE).untilAsserted(() -> assertThat(after.problems()).isEmpty());
	}

	@Test
	void countIsWrittenAndRaisedInAFullRedis() {
		try (EmbeddedRedis full = EmbeddedRedis.start("--maxmemory", "1", "--maxmemory-policy", "noeviction")) {
			LettuceConnectionFactory factory = RedisClients.factory(full);
			RedisConnector connector = new RedisConnector(factory);
			RedisStreamSource source = new RedisStreamSource(connector, this.prefix, Map.of("orders", 4),
					Duration.ofSeconds(10));
			try {
				assertThat(source.shards("orders")).isEqualTo(4);
				assertThat(source.raise("orders", 6)).isEqualTo(6);
			}
			finally {
				source.close();
				connector.stop();
				factory.destroy();
			}
		}
	}

	@Test
	void raiseCountsOnceReplicasHaveIt() {
		try (EmbeddedRedis master = EmbeddedRedis.startReplicating();
				EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
						String.valueOf(master.port()))) {
			master.emptyWithReplicas(1);
			LettuceConnectionFactory factory = RedisClients.factory(master);
			RedisConnector connector = new RedisConnector(factory);
			RedisStreamSource source = new RedisStreamSource(connector, this.prefix, Map.of("orders", 4),
					Duration.ofSeconds(10), new ReplicaWait(1, Duration.ofMillis(200)));
			try {
				assertThat(source.shards("orders")).isEqualTo(4);
				replica.freeze();
				for (int attempt = 0; attempt < 2; attempt++) {
					assertThatExceptionOfType(StoreUnavailableException.class)
						.isThrownBy(() -> source.raise("orders", 6))
						.withMessageContaining("only 0 of 1 replicas");
				}
				replica.thaw();
				await().atMost(PATIENCE)
					.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
					.until(() -> source.raise("orders", 6) == 6);
				assertThat(replica.<String>call((commands) -> commands.hget(key(), "shards"))).isEqualTo("6");
			}
			finally {
				replica.thaw();
				source.close();
				connector.stop();
				factory.destroy();
			}
		}
	}

	@Test
	void invalidCountIsReportedAndTheKnownOneIsKept() {
		RedisStreamSource source = source(4);
		count(source);
		this.redis.opsForHash().put(key(), "shards", "many");

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> source.shards("orders"))
			.withMessageContaining(key())
			.withMessageContaining("'many'");
		assertThat(count(source)).isEqualTo(4);
	}

	@Test
	void keyOfAnotherTypeIsNamedAndOtherTopicsAreRead() {
		this.redis.opsForValue().set(key(), "mine");
		RedisStreamSource source = new RedisStreamSource(RedisClients.sharedConnector(), this.prefix,
				Map.of("orders", 4, "visits", 2), Duration.ofSeconds(10));
		this.open.add(source);
		ShardTemplate template = template(source);

		assertThat(source.topics()).isEqualTo(Map.of("orders", TopicShards.NONE, "visits", TopicShards.count(2)));
		assertThat(source.problems()).containsOnlyKeys("orders");
		assertThat(source.problems().get("orders")).contains(key(), "RENAME", "DEL");
		assertThat(source.shards("visits")).isEqualTo(2);
		assertThat(source.raise("visits", 3)).isEqualTo(3);
		template.send("visits", "key", 1);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> source.raise("orders", 5))
			.withMessageContaining(key())
			.withMessageContaining("RENAME");
		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> template.send("orders", "key", 1))
			.withMessageContaining("'orders'")
			.withMessageContaining(key());

		this.redis.delete(key());
		template.send("orders", "key", 1);
		assertThat(source.problems()).isEmpty();
		assertThat(stored()).isEqualTo("4");
	}

	private static int hash(String key) {
		return org.apache.kafka.common.utils.Utils
			.toPositive(org.apache.kafka.common.utils.Utils.murmur2(key.getBytes()));
	}

	private static int count(RedisStreamSource source) {
		return source.topics().get("orders").count();
	}

	private RedisStreamSource source(int shards) {
		RedisStreamSource source = new RedisStreamSource(RedisClients.sharedConnector(), this.prefix,
				Map.of("orders", shards), Duration.ofSeconds(10));
		this.open.add(source);
		return source;
	}

	private static ShardTemplate template(RedisStreamSource source) {
		return new KeyedShardTemplate(SendTopics.of(source::topics, source), new JsonPayloadConverter(new JsonMapper()),
				SendSettings.DEFAULT, Map.of(), null, SendObserver.NONE);
	}

	private String key() {
		return this.prefix + ":{orders}:topic";
	}

	private Object stored() {
		return this.redis.opsForHash().get(key(), "shards");
	}

}
