package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.kafka.KafkaShardSource;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Kafka groups that another application has left, or has not. */
class GroupOffsetsTests {

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final String topic = "orders-" + UUID.randomUUID();

	private final String group = "booking-" + UUID.randomUUID();

	@Test
	void positionIsBeforeTheNextRecordOfTheGroup() throws Exception {
		this.kafka.createTopic(this.topic, 2);
		commit(Map.of(partition(this.topic, 0), new OffsetAndMetadata(42), partition(this.topic, 1),
				new OffsetAndMetadata(0)));
		try (KafkaShardSource source = source(KafkaTopic.named(this.topic))) {
			Map<ShardId, Position> positions = source.positions(this.group, List.of(ZERO, ONE));

			assertThat(positions).extractingByKey(ZERO).satisfies((position) -> {
				assertThat(position.obstacle()).isNull();
				assertThat(position.before().value()).startsWith("41:").contains(topicId());
			});
			assertThat(positions).extractingByKey(ONE)
				.extracting(Position::before)
				.isEqualTo(new Offset("-1:" + topicId()));
		}
	}

	/** It has never handled one of its records, as far as Kafka knows. */
	@Test
	void partitionWithoutAnOffsetBeginsWithItsFirstRecord() throws Exception {
		this.kafka.createTopic(this.topic, 2);
		commit(Map.of(partition(this.topic, 0), new OffsetAndMetadata(42)));
		try (KafkaShardSource source = source(KafkaTopic.named(this.topic))) {
			assertThat(source.positions(this.group, List.of(ONE)))
				.containsOnly(Map.entry(ONE, Position.after(new Offset("-1"))));
		}
	}

	@Test
	void groupWithoutAnOffsetInTheTopicIsAnObstacle() throws Exception {
		String other = this.topic + "-other";
		this.kafka.createTopic(this.topic, 1);
		this.kafka.createTopic(other, 1);
		commit(Map.of(partition(other, 0), new OffsetAndMetadata(42)));
		try (KafkaShardSource source = source(KafkaTopic.named(this.topic))) {
			for (String name : List.of(this.group, "no-such-group")) {
				assertThat(source.positions(name, List.of(ZERO))).extractingByKey(ZERO).satisfies((position) -> {
					assertThat(position.before()).isNull();
					assertThat(position.obstacle()).contains("'" + name + "' has no offset in '" + this.topic + "'",
							"'shardkeeper.topics.orders.start'");
				});
			}
		}
	}

	/** Kafka topics that are created later match, too. */
	@Test
	void kafkaTopicOfAPatternThatTheGroupDoesNotKnowBeginsWithItsFirstRecord() throws Exception {
		this.kafka.createTopic(this.topic + ".eu", 1);
		this.kafka.createTopic(this.topic + ".us", 1);
		commit(Map.of(partition(this.topic + ".eu", 0), new OffsetAndMetadata(42)));
		ShardId later = new ShardId("orders", this.topic + ".us-0");
		try (KafkaShardSource source = source(KafkaTopic.matching(Pattern.compile(this.topic + "\\..*")))) {
			assertThat(source.positions(this.group, List.of(later)))
				.containsOnly(Map.entry(later, Position.after(new Offset("-1"))));
		}
	}

	@Test
	void memberThatConsumesTheTopicIsAnObstacleUntilItHasLeft() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		commit(Map.of(partition(this.topic, 0), new OffsetAndMetadata(42)));
		try (KafkaShardSource source = source(KafkaTopic.named(this.topic))) {
			try (KafkaConsumer<byte[], byte[]> member = member(this.topic)) {
				Position position = source.positions(this.group, List.of(ZERO)).get(ZERO);

				assertThat(position.before().value()).startsWith("41:");
				assertThat(position.obstacle()).contains("'" + this.group + "' still has members",
						"consumer-of-" + this.group, "Stop the application that consumes '" + this.topic + "'");
				assertThat(member.assignment()).isNotEmpty();
			}
			await().untilAsserted(
					() -> assertThat(source.positions(this.group, List.of(ZERO)).get(ZERO).obstacle()).isNull());
		}
	}

	/** Its end decides whether the group has the offset. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void offsetInAnOpenTransactionIsAnObstacleUntilItsEnd(boolean beforeTheFirstOffset) throws Exception {
		this.kafka.createTopic(this.topic, 2);
		if (!beforeTheFirstOffset) {
			commit(Map.of(partition(this.topic, 1), new OffsetAndMetadata(7)));
		}
		Map<String, Object> properties = this.kafka.clientProperties();
		properties.put("transactional.id", this.topic);
		try (KafkaShardSource source = source(KafkaTopic.named(this.topic));
				KafkaConsumer<byte[], byte[]> consumer = consumer();
				KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties, new ByteArraySerializer(),
						new ByteArraySerializer())) {
			producer.initTransactions();
			producer.beginTransaction();
			Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
			offsets.put(partition(this.topic, 0), new OffsetAndMetadata(42));
			if (beforeTheFirstOffset) {
				offsets.put(partition(this.topic, 1), new OffsetAndMetadata(7));
			}
			producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());

			Map<ShardId, Position> open = source.positions(this.group, List.of(ZERO, ONE));
			assertThat(open.get(ZERO).before()).isNull();
			assertThat(open.get(ZERO).obstacle()).contains("is part of a transaction that is open");
			if (beforeTheFirstOffset) {
				assertThat(open.get(ONE).obstacle()).contains("is part of a transaction that is open");
			}
			else {
				assertThat(open.get(ONE).obstacle()).isNull();
			}
			producer.commitTransaction();
			await().untilAsserted(() -> assertThat(source.positions(this.group, List.of(ZERO)).get(ZERO))
				.satisfies((position) -> assertThat(position.obstacle()).isNull())
				.extracting((position) -> position.before().value())
				.asString()
				.startsWith("41:"));
		}
	}

	/** All listeners of an application often have one group: they can move one by one. */
	@Test
	void memberThatConsumesOtherTopicsIsNoObstacle() throws Exception {
		String other = this.topic + "-other";
		this.kafka.createTopic(this.topic, 1);
		this.kafka.createTopic(other, 1);
		try (KafkaShardSource source = source(KafkaTopic.named(this.topic));
				KafkaConsumer<byte[], byte[]> member = member(other)) {
			member.commitSync(Map.of(partition(this.topic, 0), new OffsetAndMetadata(42)));

			await().untilAsserted(
					() -> assertThat(source.positions(this.group, List.of(ZERO)).get(ZERO).obstacle()).isNull());
			assertThat(source.positions(this.group, List.of(ZERO)).get(ZERO).before().value()).startsWith("41:");
		}
	}

	private KafkaShardSource source(KafkaTopic mapping) {
		KafkaShardSource source = new KafkaShardSource(
				KafkaSourceSettings.of(Map.of("orders", mapping), this.kafka.clientProperties()));
		source.topics();
		return source;
	}

	/** Returns a consumer of the group, which is no member yet. */
	private KafkaConsumer<byte[], byte[]> consumer() {
		Map<String, Object> properties = this.kafka.clientProperties();
		properties.put("group.id", this.group);
		properties.put("client.id", "consumer-of-" + this.group);
		properties.put("enable.auto.commit", "false");
		return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
	}

	/** Returns a consumer that has its partitions. */
	private KafkaConsumer<byte[], byte[]> member(String name) {
		KafkaConsumer<byte[], byte[]> member = consumer();
		member.subscribe(Set.of(name));
		await().until(() -> {
			member.poll(Duration.ofMillis(100));
			return !member.assignment().isEmpty();
		});
		return member;
	}

	private void commit(Map<TopicPartition, OffsetAndMetadata> offsets) throws Exception {
		try (Admin admin = this.kafka.admin()) {
			admin.alterConsumerGroupOffsets(this.group, offsets).all().get();
		}
	}

	private String topicId() throws Exception {
		try (Admin admin = this.kafka.admin()) {
			return admin.describeTopics(List.of(this.topic)).allTopicNames().get().get(this.topic).topicId().toString();
		}
	}

	private static TopicPartition partition(String topic, int number) {
		return new TopicPartition(topic, number);
	}

}
