package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.report.WaitingKeyReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedisCluster;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys that wait, in shards whose slots belong to several nodes of a Cluster. */
@Timeout(180)
@Tag("proof")
class ParkedKeysOnClusterTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final List<Integer> SHARDS = IntStream.range(0, 6).boxed().toList();

	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=" + SHARDS.size(),
			"shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.consumer.on-failure=park-key",
			"shardkeeper.consumer.retry-queue.delays=1h", "management.endpoints.web.exposure.include=shards");

	@AfterEach
	void close() {
		this.instances.close();
	}

	@Test
	void whatWaitsMovesWithItsShardAndIsListedDroppedRetriedAndSentBack() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			String nodes = "spring.data.redis.cluster.nodes=" + cluster.addresses();
			ConfigurableApplicationContext one = this.instances.start(ParkedKeysTests.Failing.class, "one", nodes);
			ShardTemplate template = one.getBean(ShardTemplate.class);
			SHARDS
				.forEach((shard) -> Stream
					.of(new Outgoing("a", "bad"), new Outgoing("a", "later " + shard), new Outgoing("b", "bad"),
							new Outgoing("c", "bad"))
					.forEach((record) -> template.send("orders", record.toShard(shard))));
			awaitWaiting(one, 4);
			assertThat(SHARDS.stream().map((shard) -> cluster.masterOf(slot(shard)).orElseThrow()).distinct().count())
				.as("nodes")
				.isGreaterThan(1);

			ConfigurableApplicationContext two = this.instances.start(ParkedKeysTests.Repaired.class, "two", nodes);
			one.close();
			for (int shard : SHARDS) {
				List<WaitingKeyReport> keys = two.getBean(ShardOperations.class)
					.waiting("orders", Integer.toString(shard), null, null, true)
					.keys();
				assertThat(keys).extracting(WaitingKeyReport::key).containsExactly("a", "b", "c");
				assertThat(act(two, shard, "drop-waiting", Map.of("key", "b")))
					.containsExactly("Deleted: 1 record of 1 key");
				assertThat(act(two, shard, "retry-waiting", Map.of("key", "a")))
					.containsExactly("Retried now: 2 records of 1 key");
				assertThat(act(two, shard, "send-back-waiting", Map.of("key", "c")))
					.containsExactly("Sent back to be handled again: 1 record of 1 key");
			}
			awaitWaiting(two, 0);
			assertThat(ParkedKeysTests.handled(two)).containsExactlyInAnyOrderElementsOf(
					SHARDS.stream().flatMap((shard) -> Stream.of("bad", "later " + shard, "bad")).toList());
			this.instances.close();
		}
	}

	private String slot(int shard) {
		return "{" + this.instances.name() + "/orders/" + shard + "}";
	}

	private static List<String> act(ConfigurableApplicationContext instance, int shard, String action,
			Map<String, String> fields) {
		Map<String, String> request = new HashMap<>(fields);
		request.put("action", action);
		return instance.getBean(ShardOperations.class)
			.onShard("orders", Integer.toString(shard), null, request)
			.effects();
	}

	private static void awaitWaiting(ConfigurableApplicationContext instance, long records) {
		Map<ShardId, Long> expected = SHARDS.stream()
			.collect(Collectors.toMap((shard) -> ShardId.of("orders", shard), (shard) -> records));
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(instance.getBean(DeadLetters.class).waiting("orders")).isEqualTo(expected));
	}

}
