package io.github.shardkeeper.endtoend;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * What may happen to a topic in Kafka and to its brokers, and the feeder of the topic,
 * whose numbers rise also where the topic is replaced. Confined to one thread.
 */
final class KafkaFaults implements AutoCloseable {

	/** Of a feeder that is in a hurry. */
	private static final Duration SHORT = Duration.ofMillis(2);

	private static final Duration PATIENCE = LossyGroup.PATIENCE;

	private final EmbeddedKafka kafka;

	private final String topic;

	private final int partitions;

	private final Duration interval;

	private KafkaFeeder feeder;

	/** Number of the last transaction, 0 before the first one. */
	private long inTransaction;

	/** Creates the topic and begins to feed it. */
	KafkaFaults(EmbeddedKafka kafka, String topic, int partitions, Duration interval) {
		this.kafka = kafka;
		this.topic = topic;
		this.partitions = partitions;
		this.interval = interval;
		this.feeder = new KafkaFeeder(kafka, topic, partitions, interval);
	}

	/** The present one. */
	KafkaFeeder feeder() {
		return this.feeder;
	}

	/** Restarts the broker without the records of a partition from an offset on. */
	void lose(int partition, long first) {
		this.kafka.loseRecords(this.topic, partition, first);
	}

	/** Waits until a partition has records up to an offset. */
	void awaitEnd(int partition, long end) {
		TopicPartition which = new TopicPartition(this.topic, partition);
		try (Admin admin = this.kafka.admin()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> reply(admin.listOffsets(Map.of(which, OffsetSpec.latest())).partitionResult(which))
					.offset() >= end);
		}
	}

	/** Deletes the topic; it is not fed any more. */
	void deleteTopic() {
		this.feeder.stop();
		this.feeder.close();
		try (Admin admin = this.kafka.admin()) {
			reply(admin.deleteTopics(List.of(this.topic)).all());
		}
	}

	/** Creates the topic after it was deleted, without records. */
	void createTopic() {
		this.kafka.createTopic(this.topic, this.partitions);
	}

	/** Feeds the topic that was created. */
	void feed() {
		feedFrom(last(), this.interval);
	}

	/** The same, and returns once all its partitions have as many records. */
	void feed(long records) {
		long last = last();
		feedFrom(last, SHORT);
		Awaitility.await().atMost(PATIENCE).until(() -> Collections.min(this.feeder.sent().values()) >= last + records);
		this.feeder.stop();
		this.feeder.close();
		feed();
	}

	private long last() {
		return Collections.max(this.feeder.sent().values());
	}

	private void feedFrom(long last, Duration each) {
		this.feeder = new KafkaFeeder(this.kafka, this.topic, this.partitions, each, last);
	}

	/** Returns the number that was sent in the last transaction. */
	long inTransaction() {
		return this.inTransaction;
	}

	/** Begins a transaction with the next number of a partition. */
	KafkaProducer<byte[], byte[]> beginTransaction(int partition, String id) {
		KafkaProducer<byte[], byte[]> producer = producer(id);
		producer.beginTransaction();
		this.feeder.appendNext(partition, (number) -> {
			byte[] payload = Long.toString(number).getBytes(StandardCharsets.UTF_8);
			producer.send(new ProducerRecord<>(this.topic, partition, null, payload));
			producer.flush();
			this.inTransaction = number;
		});
		return producer;
	}

	/** Returns a producer that has aborted what another one with its id has begun. */
	KafkaProducer<byte[], byte[]> producer(String id) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.put("transactional.id", id);
		ByteArraySerializer bytes = new ByteArraySerializer();
		KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties, bytes, bytes);
		producer.initTransactions();
		return producer;
	}

	/** As {@code kafka-transactions.sh abort}. */
	void abortTransactions(int partition) {
		TopicPartition which = new TopicPartition(this.topic, partition);
		try (Admin admin = this.kafka.admin()) {
			reply(admin.describeProducers(List.of(which)).partitionResult(which)).activeProducers()
				.stream()
				.filter((producer) -> producer.currentTransactionStartOffset().isPresent())
				.forEach((producer) -> reply(admin.abortTransaction(abort(which, producer)).all()));
		}
	}

	private static AbortTransactionSpec abort(TopicPartition partition, ProducerState producer) {
		return new AbortTransactionSpec(partition, producer.producerId(), (short) producer.producerEpoch(),
				producer.coordinatorEpoch().orElse(0));
	}

	/** Sets how much clients with an id may read; {@code null} for all they can. */
	void limitReading(String clientId, @Nullable Double bytesPerSecond) {
		ClientQuotaEntity client = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, clientId));
		try (Admin admin = this.kafka.admin()) {
			reply(admin.alterClientQuotas(List.of(new ClientQuotaAlteration(client,
					List.of(new ClientQuotaAlteration.Op("consumer_byte_rate", bytesPerSecond)))))
				.all());
		}
	}

	/** The numbers that a partition has, without those of aborted transactions. */
	List<Long> left(int partition) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.putAll(Map.of("isolation.level", "read_committed", "auto.offset.reset", "earliest"));
		TopicPartition which = new TopicPartition(this.topic, partition);
		StringDeserializer text = new StringDeserializer();
		try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, text, text)) {
			consumer.assign(List.of(which));
			consumer.seekToBeginning(List.of(which));
			long end = consumer.endOffsets(List.of(which)).get(which);
			List<Long> numbers = new ArrayList<>();
			while (consumer.position(which) < end) {
				consumer.poll(Duration.ofSeconds(1)).forEach((record) -> numbers.add(Long.valueOf(record.value())));
			}
			return numbers;
		}
	}

	private static <T> T reply(KafkaFuture<T> future) {
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.feeder.close();
	}

}
