package io.github.shardkeeper.autoconfigure.source;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** An application that takes over from consumers of a Kafka group. */
class KafkaGroupStartTests {

	private static final String GROUP = "booking";

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class,
				ShardkeeperActuatorAutoConfiguration.class, KafkaAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=kafka", "shardkeeper.store=memory",
				"shardkeeper.topics.orders.source=kafka", "shardkeeper.topics.orders.start=group:" + GROUP,
				"shardkeeper.kafka.topics.orders.name=taken-over", "management.endpoints.web.exposure.include=shards",
				"spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers());

	@Test
	@SuppressWarnings("try")
	void rehearsalShowsWhereItBeginsAndItBeginsOnceTheMembersAreGone() throws Exception {
		this.kafka.createTopic("taken-over", 2);
		send(0, "a0", "a1", "a2");
		send(1, "b0");
		OrderRecorder recorder = new OrderRecorder();
		try (KafkaConsumer<String, String> former = former()) {
			former.commitSync(Map.of(new TopicPartition("taken-over", 0), new OffsetAndMetadata(2)));

			this.runner.withBean(OrderRecorder.class, () -> recorder)
				.withPropertyValues("shardkeeper.topics.orders.consumer.auto-startup=false")
				.run((context) -> {
					List<String> effects = context.getBean(ShardOperations.class)
						.onTopic("orders", null, Map.of("action", "seek", "to", "group:" + GROUP, "dryRun", "true"))
						.effects();
					assertThat(effects)
						.anySatisfy((effect) -> assertThat(effect).contains(
								"orders/0, at no offset now, would continue after 1:",
								"Refused for now: The Kafka group 'booking' still has members"))
						.anySatisfy((effect) -> assertThat(effect).contains("orders/1, at no offset now",
								"would continue after -1"));
					context.getBean(ShardConsumers.class).start("orders");
					await().untilAsserted(() -> assertThat(problems(context)).hasSize(2)
						.allSatisfy((shard, problem) -> assertThat(problem).contains("'booking' still has members",
								"Stop the application")));
					assertThat(recorder.isEmpty()).isTrue();
					former.close();

					assertThat(List.of(recorder.next(), recorder.next())).containsExactlyInAnyOrder("a2", "b0");
					assertThat(problems(context)).isEmpty();
					assertThat(recorder.isEmpty()).isTrue();
				});
		}
	}

	private static Map<ShardId, String> problems(ApplicationContext context) {
		return context.getBean(ShardConsumerRunner.class).problems();
	}

	/** Returns a consumer of the group that has all partitions. */
	private KafkaConsumer<String, String> former() {
		Map<String, Object> properties = this.kafka.clientProperties();
		properties.put("group.id", GROUP);
		properties.put("enable.auto.commit", "false");
		KafkaConsumer<String, String> former = new KafkaConsumer<>(properties, new StringDeserializer(),
				new StringDeserializer());
		former.subscribe(Set.of("taken-over"));
		await().until(() -> {
			former.poll(Duration.ofMillis(100));
			return former.assignment().size() == 2;
		});
		return former;
	}

	private void send(int partition, String... payloads) throws Exception {
		try (KafkaProducer<String, String> producer = new KafkaProducer<>(this.kafka.clientProperties(),
				new StringSerializer(), new StringSerializer())) {
			for (String payload : payloads) {
				producer.send(new ProducerRecord<>("taken-over", partition, null, payload)).get();
			}
		}
	}

}
