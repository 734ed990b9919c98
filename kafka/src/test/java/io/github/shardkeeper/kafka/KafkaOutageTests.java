package io.github.shardkeeper.kafka;

import java.net.ServerSocket;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Brokers that are away.
 */
@Tag("proof")
class KafkaOutageTests {

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	/** Started by the first test that needs it, like the others. */
	private static EmbeddedKafka single;

	private static EmbeddedKafka pair;

	private static final ShardId SHARD = ShardId.of("orders", 0);

	@AfterAll
	static void close() {
		Stream.of(single, pair).filter(Objects::nonNull).forEach(EmbeddedKafka::close);
	}

	private static EmbeddedKafka single() {
		single = (single != null) ? single : EmbeddedKafka.start();
		return single;
	}

	private static EmbeddedKafka pair() {
		pair = (pair != null) ? pair : EmbeddedKafka.startCluster(2);
		return pair;
	}

	/**
	 * Its controller believes in a frozen broker, as if only clients could not reach it.
	 */
	private static EmbeddedKafka unreachablePair() {
		return EmbeddedKafka.builder().brokers(2).setting("broker.session.timeout.ms", "120000").start();
	}

	/**
	 * Creates a topic with a partition at each of two brokers, and returns the shards.
	 */
	private static Map<Integer, ShardId> onePartitionEach(EmbeddedKafka kafka, String topic) {
		Map<Integer, ShardId> byLeader = new HashMap<>();
		try (Admin admin = kafka.admin()) {
			// Each partition at one broker: nothing waits for a frozen copy.
			join(admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all());
			await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> {
				join(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic)
					.partitions()
					.forEach((partition) -> byLeader.put(partition.leader().id(),
							ShardId.of("orders", partition.partition())));
				assertThat(byLeader).containsOnlyKeys(1, 2);
			});
		}
		return byLeader;
	}

	@Test
	void readingContinuesAfterARestartOfTheBroker() {
		EmbeddedKafka kafka = single();
		kafka.createTopic("restarted", 2);
		try (PolledSource source = PolledSource.of(kafka.clientProperties(), "orders", KafkaTopic.named("restarted"))) {
			RecordingSink sink = source.start(SHARD, null);
			source.append(SHARD, 1, 3);
			assertThat(PolledSource.payloads(sink.await(3))).containsExactly("r1", "r2", "r3");

			kafka.kill();
			await().atMost(PATIENCE).until(() -> !source.failures().isEmpty());
			assertThat(source.failures().get(0)).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining(kafka.bootstrapServers());
			assertThat(source.source().topics()).as("what is known").containsEntry("orders", TopicShards.count(2));
			RecordingSink other = source.start(ShardId.of("orders", 1), null);
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> source.source().before(StartPosition.LATEST, List.of(SHARD)))
				.withMessageContaining(kafka.bootstrapServers());

			kafka.restart();
			source.append(SHARD, 4, 5);
			source.append(ShardId.of("orders", 1), 6, 6);
			assertThat(PolledSource.payloads(sink.await(2))).containsExactly("r4", "r5");
			assertThat(PolledSource.payloads(other.await(1))).containsExactly("r6");
			await().untilAsserted(() -> assertThat(source.source().problems()).isEmpty());
			await().untilAsserted(() -> assertThat(source.reader().problems()).isEmpty());
			assertThat(sink.pending()).isEmpty();
		}
	}

	@Test
	void frozenBrokerIsReportedAndRecordsThatWereNotAcknowledgedSaySo() {
		EmbeddedKafka kafka = single();
		kafka.createTopic("frozen", 1);
		Map<String, Object> properties = kafka.clientProperties();
		properties.put("delivery.timeout.ms", 8000);
		properties.put("request.timeout.ms", 5000);
		properties.put("linger.ms", 0);
		try (PolledSource source = PolledSource.of(properties, "orders", KafkaTopic.named("frozen"))) {
			RecordingSink sink = source.start(SHARD, null);
			source.append(SHARD, 1, 1);
			sink.await(1);
			kafka.freeze();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> source.append(SHARD, 2, 2))
				.withCauseInstanceOf(SendFailedException.class)
				.satisfies((failure) -> assertThat(((SendFailedException) failure.getCause()).mayHaveBeenAppended())
					.as(failure.getMessage())
					.isTrue());
			await().atMost(PATIENCE).until(() -> !source.failures().isEmpty());

			kafka.thaw();
			int replies = source.replies();
			await().atMost(PATIENCE).until(() -> source.replies() > replies);
			source.append(SHARD, 3, 3);
			await().until(() -> PolledSource.payloads(sink.pending()).contains("r3"));
		}
	}

	@Test
	void brokerThatOnlyThisClientCannotReachIsAProblemOfItsShardsOnly() {
		try (EmbeddedKafka unreachable = unreachablePair()) {
			Map<Integer, ShardId> byLeader = onePartitionEach(unreachable, "halves");
			try (PolledSource source = PolledSource.of(unreachable.clientProperties(), "orders",
					KafkaTopic.named("halves"))) {
				RecordingSink one = source.start(byLeader.get(1), null);
				RecordingSink two = source.start(byLeader.get(2), null);
				source.append(byLeader.get(1), 1, 1);
				source.append(byLeader.get(2), 1, 1);
				one.await(1);
				two.await(1);

				unreachable.freeze(2);
				await().atMost(PATIENCE)
					.untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(byLeader.get(2),
							(problem) -> assertThat(problem).contains("broker 2, does not reply")));
				assertThat(source.reader().problems()).containsOnlyKeys(byLeader.get(2));
				source.append(byLeader.get(1), 2, 2);
				assertThat(PolledSource.payloads(one.await(1))).containsExactly("r2");

				unreachable.thaw();
				source.append(byLeader.get(2), 2, 2);
				assertThat(PolledSource.payloads(two.await(1))).containsExactly("r2");
				await().untilAsserted(() -> assertThat(source.reader().problems()).isEmpty());
			}
		}
	}

	@Test
	void brokerThatHangsAtStartDoesNotHoldUpThePartitionsOfTheOther() {
		try (EmbeddedKafka hanging = unreachablePair()) {
			Map<Integer, ShardId> byLeader = onePartitionEach(hanging, "hanging");
			try (PolledSource writer = PolledSource.of(hanging.clientProperties(), "orders",
					KafkaTopic.named("hanging"))) {
				writer.append(byLeader.get(1), 1, 1);
			}
			hanging.freeze(2);
			try (PolledSource source = PolledSource.of(hanging.clientProperties(), "orders",
					KafkaTopic.named("hanging"))) {
				await().atMost(PATIENCE)
					.untilAsserted(
							() -> assertThat(source.source().topics()).containsEntry("orders", TopicShards.count(2)));
				RecordingSink sink = source.start(byLeader.get(1), null);
				// Consumers choose a bootstrap server at random, until one replies.
				await().atMost(PATIENCE)
					.untilAsserted(() -> assertThat(PolledSource.payloads(sink.pending())).containsExactly("r1"));
			}
			hanging.thaw();
		}
	}

	@Test
	void brokerThatIsAwayAtStartIsAProblemUntilItAnswers() throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0)) {
			port = socket.getLocalPort();
		}
		Map<String, Object> away = Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:" + port);
		try (PolledSource source = PolledSource.of(away, "orders", KafkaTopic.named("orders"))) {
			assertThat(source.source().topics()).containsOnly(Map.entry("orders", TopicShards.NONE));
			assertThat(source.source().problems()).hasEntrySatisfying("orders",
					(problem) -> assertThat(problem).contains("127.0.0.1:" + port)
						.contains("'spring.kafka.bootstrap-servers'"));
			source.start(SHARD, null);
			await().until(() -> !source.failures().isEmpty());
			assertThat(source.failures().get(0)).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining("127.0.0.1:" + port);
			assertThatExceptionOfType(SendFailedException.class)
				.isThrownBy(() -> source.source().append(List.of(new NewRecord(SHARD, null, new byte[0]))))
				.satisfies((failure) -> assertThat(failure.mayHaveBeenAppended()).isFalse());
		}
	}

	@Test
	void addressThatCannotBeResolvedIsAProblemOfTheTopic() {
		Map<String, Object> away = Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, "no-such-host.invalid:9092");
		try (PolledSource source = PolledSource.of(away, "orders", KafkaTopic.named("orders"))) {
			assertThat(source.source().topics()).containsOnly(Map.entry("orders", TopicShards.NONE));
			assertThat(source.source().problems()).hasEntrySatisfying("orders",
					(problem) -> assertThat(problem).contains("no-such-host.invalid:9092"));
			await().until(() -> !source.failures().isEmpty());
			assertThat(source.failures())
				.allSatisfy((failure) -> assertThat(failure).isInstanceOf(StoreUnavailableException.class));
		}
	}

	@Test
	void readingAndSendingContinueAtTheNextLeaderAndAPartitionWithoutOneIsAProblemOfItsShardOnly() throws Exception {
		EmbeddedKafka kafka = pair();
		NewTopic both = new NewTopic("both", Map.of(0, List.of(2, 1))).configs(Map.of("min.insync.replicas", "1"));
		NewTopic single = new NewTopic("single", Map.of(0, List.of(2)));
		try (Admin admin = kafka.admin()) {
			admin.createTopics(List.of(both, single)).all().get();
		}
		await().ignoreExceptionsInstanceOf(IllegalStateException.class)
			.until(() -> kafka.leaderOf("both", 0).isPresent() && kafka.leaderOf("single", 0).isPresent());
		ShardId alone = ShardId.of("alone", 0);
		Map<String, KafkaTopic> topics = Map.of("orders", KafkaTopic.named("both"), "alone",
				KafkaTopic.named("single"));
		try (PolledSource source = new PolledSource(PolledSource.settings(kafka.clientProperties(), topics, null))) {
			RecordingSink sink = source.start(SHARD, null);
			RecordingSink aloneSink = source.start(alone, null);
			source.append(SHARD, 1, 3);
			source.append(alone, 1, 1);
			sink.await(3);
			aloneSink.await(1);
			assertThat(kafka.leaderOf("both", 0)).contains(2);
			kafka.kill(2);
			List<Offset> offsets = source.append(SHARD, 4, 6);

			assertThat(PolledSource.payloads(sink.await(3))).containsExactly("r4", "r5", "r6");
			assertThat(offsets).containsExactly(new Offset("3"), new Offset("4"), new Offset("5"));
			assertThat(kafka.leaderOf("both", 0)).contains(1);
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(source.reader().problems()).containsOnlyKeys(alone)
					.hasEntrySatisfying(alone, (problem) -> assertThat(problem).contains("single-0 has no leader")));
			kafka.restart(2);
			await().atMost(PATIENCE).untilAsserted(() -> assertThat(source.reader().problems()).isEmpty());
			source.append(alone, 2, 2);
			assertThat(PolledSource.payloads(aloneSink.await(1))).containsExactly("r2");
			assertThat(sink.pending()).isEmpty();
		}
	}

	private static <T> T join(KafkaFuture<T> future) {
		return future.toCompletionStage().toCompletableFuture().join();
	}

}
