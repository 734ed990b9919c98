package io.github.shardkeeper.autoconfigure.source;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.metrics.KafkaMetricsAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.core.ConsumerFactory;

import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.ShardDetails;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What an application shows of a broker that holds records back or lets clients wait, and
 * of its clients.
 */
class KafkaBrokerTests {

	private static final String OURS = "shardkeeperKafkaSource";

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

	private final OrderRecorder recorder = new OrderRecorder();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class,
						KafkaAutoConfiguration.class, KafkaMetricsAutoConfiguration.class))
		.withBean(OrderRecorder.class, () -> this.recorder)
		.withBean(MeterRegistry.class, () -> this.registry)
		.withPropertyValues("shardkeeper.group=kafka", "shardkeeper.store=memory",
				"shardkeeper.topics.orders.source=kafka", "shardkeeper.kafka.refresh-interval=200ms",
				"shardkeeper.consumer.commit.interval=20ms", "management.endpoints.web.exposure.include=shards",
				"management.metrics.shardkeeper.sample-interval=1s",
				"spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers());

	@Test
	void transactionThatHangsTurnsHealthDownAndBothLagsDiffer() throws Exception {
		this.kafka.createTopic("hanging", 1);
		try (KafkaProducer<byte[], byte[]> hanging = producer(Map.of("transactional.id", "transfers"));
				KafkaProducer<byte[], byte[]> others = producer(Map.of())) {
			this.runner.withPropertyValues("shardkeeper.kafka.topics.orders.name=hanging",
					"shardkeeper.kafka.long-transaction=300ms", "spring.kafka.consumer.isolation-level=read_committed")
				.run((context) -> {
					send(others, "hanging", "before");
					assertThat(this.recorder.next()).isEqualTo("before");
					await().untilAsserted(() -> assertThat(lag("stable.records")).isZero());
					hanging.initTransactions();
					hanging.beginTransaction();
					send(hanging, "hanging", "open");
					send(others, "hanging", "after");

					ShardkeeperHealthIndicator indicator = context.getBean(ShardkeeperHealthIndicator.class);
					await().untilAsserted(() -> assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN));
					assertThat(indicator.health().getDetails().get("problems")).asString()
						.contains("the transaction of 'transfers' has been open")
						.contains("orders/0");
					await().untilAsserted(() -> assertThat(lag("records")).isEqualTo(2));
					assertThat(lag("stable.records")).isZero();
					ShardDetails details = context.getBean(ShardsEndpoint.class).shard("orders", "0", null);
					assertThat(details.lag()).isEqualTo(new LagReport(2L, null, 0L));
					hanging.commitTransaction();

					assertThat(this.recorder.next()).isEqualTo("open");
					assertThat(this.recorder.next()).isEqualTo("after");
					await().untilAsserted(() -> assertThat(indicator.health().getStatus()).isEqualTo(Status.UP));
					await().untilAsserted(() -> assertThat(lag("records")).isEqualTo(lag("stable.records")));
				});
		}
	}

	@Test
	void quotaOfABrokerIsADetailOfHealth() throws Exception {
		this.kafka.createTopic("quota", 1);
		String client = "slow-shardkeeper-reader";
		this.runner.withPropertyValues("shardkeeper.kafka.topics.orders.name=quota", "spring.kafka.client-id=slow")
			.run((context) -> {
				limit(await().until(() -> clientId(client), (id) -> !id.isEmpty()), 10_000.0);
				try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
					for (int batch = 0; batch < 40; batch++) {
						producer.send(new ProducerRecord<>("quota", 0, null, new byte[5_000])).get();
					}
				}
				assertThat(this.recorder.next()).hasSize(5_000);
				await().untilAsserted(() -> {
					Health health = context.getBean(ShardkeeperHealthIndicator.class).health();
					assertThat(health.getDetails().get("throttled")).asString()
						.contains("orders=Kafka's brokers let the client '" + client)
						.contains("'consumer_byte_rate'");
					assertThat(health.getStatus()).isEqualTo(Status.UP);
				});
			});
	}

	/** A registry of Prometheus takes meters of one name with the same tags only. */
	@Test
	void metersOfOurClientsAreBesideThoseOfTheApplication() {
		this.kafka.createTopic("metered", 1);
		this.runner.withPropertyValues("shardkeeper.kafka.topics.orders.name=metered").run((context) -> {
			ConsumerFactory<?, ?> factory = context.getBean(ConsumerFactory.class);
			try (Consumer<?, ?> own = factory.createConsumer("own", "own")) {
				await().untilAsserted(() -> assertThat(clients("kafka.consumer.fetch.manager.fetch.throttle.time.max"))
					.anyMatch((spring) -> spring.startsWith("kafkaConsumerFactory"))
					.contains(OURS));
				assertThat(own.metrics()).isNotEmpty();
			}
			assertThat(clients("kafka.admin.client.connection.count")).contains(OURS);
			assertThat(this.registry.scrape())
				.contains("kafka_consumer_fetch_manager_fetch_throttle_time_max{client_id=");
		});
		assertThat(this.registry.getMeters()).as("after the end of the application")
			.noneMatch((meter) -> OURS.equals(meter.getId().getTag("spring.id")));
	}

	@Test
	void withoutMicrometerThereAreNoMeters() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class,
					ShardkeeperActuatorAutoConfiguration.class, KafkaAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
			.withPropertyValues("shardkeeper.group=kafka", "shardkeeper.store=memory",
					"shardkeeper.topics.orders.source=kafka",
					"spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers())
			.run((context) -> assertThat(context).hasNotFailed()
				.hasBean("shardkeeperKafkaSource")
				.doesNotHaveBean("shardkeeperKafkaClientMeters"));
	}

	private List<String> clients(String meter) {
		return this.registry.getMeters()
			.stream()
			.map(Meter::getId)
			.filter((id) -> id.getName().equals(meter))
			.map((id) -> String.valueOf(id.getTag("spring.id")))
			.toList();
	}

	/** Further sources in this JVM have a number in their clients' ids. */
	private String clientId(String beginning) {
		return this.registry.getMeters()
			.stream()
			.flatMap((meter) -> meter.getId().getTags().stream())
			.filter((tag) -> tag.getKey().equals("client.id") && tag.getValue().startsWith(beginning))
			.map(Tag::getValue)
			.findFirst()
			.orElse("");
	}

	private double lag(String name) {
		return Double.parseDouble(this.registry.scrape()
			.lines()
			.filter((line) -> line.startsWith("shardkeeper_lag_" + name.replace('.', '_') + "{"))
			.map((line) -> line.substring(line.lastIndexOf(' ') + 1))
			.findFirst()
			.orElse("NaN"));
	}

	private void limit(String client, Double bytesPerSecond) throws Exception {
		ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, client));
		try (Admin admin = this.kafka.admin()) {
			admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity,
					List.of(new ClientQuotaAlteration.Op("consumer_byte_rate", bytesPerSecond)))))
				.all()
				.get();
		}
	}

	private KafkaProducer<byte[], byte[]> producer(Map<String, Object> additional) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.putAll(additional);
		return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
	}

	private static void send(KafkaProducer<byte[], byte[]> producer, String topic, String payload) throws Exception {
		producer.send(new ProducerRecord<>(topic, 0, null, payload.getBytes())).get();
	}

}
