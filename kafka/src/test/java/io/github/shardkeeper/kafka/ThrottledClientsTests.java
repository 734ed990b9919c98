package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Clients that exceed a quota of a broker: it replies, and lets them wait.
 */
@CapturesOutput
class ThrottledClientsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final ClientIds clients = new ClientIds();

	@Test
	void quotaOfTheReaderIsNamedAndNoProblem(CapturedOutput output) throws Exception {
		this.kafka.createTopic("quota-read", 1);
		try (PolledSource source = source("slow-reader", "quota-read", Map.of())) {
			limit("slow-reader-shardkeeper-reader", "consumer_byte_rate", 10_000.0);
			RecordingSink sink = source.start(SHARD, null);
			appendMany(source, 40);
			sink.await(1);

			await().untilAsserted(() -> assertThat(source.source().throttled()).containsOnlyKeys("orders")
				.hasEntrySatisfying("orders",
						(text) -> assertThat(text).contains("client 'slow-reader-shardkeeper-reader")
							.contains("quota of this client id, or of its user")
							.contains("'consumer_byte_rate'")));
			assertThat(output).containsOnlyOnce("Kafka's brokers let the client");
			assertThat(source.reader().problems()).isEmpty();
			assertThat(source.failures()).isEmpty();
		}
	}

	@Test
	@Tag("proof")
	void brokerThatLetsTheReaderWaitIsNotAway(CapturedOutput output) throws Exception {
		this.kafka.createTopic("quota-wait", 1);
		try (PolledSource source = source("waiting", "quota-wait", Map.of())) {
			limit("waiting-shardkeeper-reader", "consumer_byte_rate", 10_000.0);
			RecordingSink sink = source.start(SHARD, null);
			// What the quota permits at once, and what the reader has to wait for.
			appendMany(source, 45);
			await().atMost(Duration.ofMinutes(3)).until(() -> sink.delivered() == 45);

			assertThat(source.failures()).isEmpty();
			assertThat(source.reader().problems()).isEmpty();
			assertThat(output).doesNotContain("do not reply");
		}
	}

	@Test
	void quotaOfTheSenderIsNamedWhereARecordWaitsForTooLong(CapturedOutput output) throws Exception {
		this.kafka.createTopic("quota-send", 1);
		try (PolledSource source = source("slow-sender", "quota-send",
				Map.of("delivery.timeout.ms", 1500, "request.timeout.ms", 1500, "linger.ms", 0))) {
			append(source, 1);
			limit("slow-sender-shardkeeper-sender", "producer_byte_rate", 10_000.0);
			Throwable failure = await().until(() -> catchThrowable(() -> append(source, 20_000)), Objects::nonNull);

			assertThat(failure).cause()
				.isInstanceOf(SendFailedException.class)
				.hasMessageContaining("No acknowledgement from orders/0")
				.hasMessageContaining("client 'slow-sender-shardkeeper-sender")
				.hasMessageContaining("'producer_byte_rate'")
				.hasMessageNotContaining("does not reply");
			assertThat(source.source().throttled()).containsOnlyKeys("orders");
			assertThat(output).containsOnlyOnce("Kafka's brokers let the client");
		}
	}

	/** A broker replies with whole batches, if they are not more than the quota. */
	private void appendMany(PolledSource source, int batches) {
		IntStream.range(0, batches).forEach((number) -> append(source, 5_000));
	}

	private Offset append(PolledSource source, int bytes) {
		NewRecord large = new NewRecord(SHARD, "key", new byte[bytes]);
		return source.source().append(List.of(large)).stream().map(CompletableFuture::join).toList().get(0);
	}

	private PolledSource source(String client, String topic, Map<String, Object> additional) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.put(CommonClientConfigs.CLIENT_ID_CONFIG, client);
		properties.putAll(additional);
		return new PolledSource(PolledSource.settings(properties, Map.of("orders", KafkaTopic.named(topic)), null),
				this.clients);
	}

	/**
	 * Sets a quota for a client that is opened by now, or soon; {@code null} for none.
	 */
	private void limit(String client, String quota, Double bytesPerSecond) throws Exception {
		String id = await().until(() -> this.clients.id(client), Objects::nonNull);
		ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, id));
		try (Admin admin = this.kafka.admin()) {
			admin
				.alterClientQuotas(List.of(new ClientQuotaAlteration(entity,
						List.of(new ClientQuotaAlteration.Op(quota, bytesPerSecond)))))
				.all()
				.get();
		}
	}

	/** Ids of the clients: further sources in this JVM have a number in theirs. */
	private static final class ClientIds implements KafkaClientListener {

		private final Set<String> ids = ConcurrentHashMap.newKeySet();

		@Override
		public void opened(AutoCloseable client) {
			Map<MetricName, ? extends Metric> metrics = (client instanceof Consumer<?, ?> consumer) ? consumer.metrics()
					: (client instanceof Producer<?, ?> producer) ? producer.metrics() : Map.of();
			metrics.keySet().forEach((name) -> this.ids.add(name.tags().getOrDefault("client-id", "")));
		}

		@Override
		public void closed(AutoCloseable client) {
		}

		String id(String beginning) {
			return this.ids.stream().filter((id) -> id.startsWith(beginning)).findFirst().orElse(null);
		}

	}

}
