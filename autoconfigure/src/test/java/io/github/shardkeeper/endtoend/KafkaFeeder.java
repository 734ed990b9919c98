package io.github.shardkeeper.endtoend;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Feeds the partitions of a topic in Kafka with the numbers 1, 2, 3 …, each once and in
 * order: the producer repeats what a broker that was away has not acknowledged, and the
 * broker drops what it has already. Thread-safe.
 */
final class KafkaFeeder implements AutoCloseable {

	/** Longer than a broker is ever away. */
	private static final Duration TIMEOUT = Duration.ofSeconds(90);

	private final KafkaProducer<byte[], byte[]> producer;

	private final String topic;

	private final AtomicLongArray begun;

	private final AtomicLongArray acknowledged;

	private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	/**
	 * Creates the topic and begins to feed it.
	 * @param interval the time between two records of a partition
	 */
	KafkaFeeder(EmbeddedKafka kafka, String topic, int partitions, Duration interval) {
		this(kafka, topic, created(kafka, topic, partitions), interval, 0);
	}

	/**
	 * Begins to feed a topic that exists.
	 * @param last the number after which it begins
	 */
	KafkaFeeder(EmbeddedKafka kafka, String topic, int partitions, Duration interval, long last) {
		this.topic = topic;
		long[] before = LongStream.generate(() -> last).limit(partitions).toArray();
		this.begun = new AtomicLongArray(before);
		this.acknowledged = new AtomicLongArray(before);
		Map<String, Object> properties = new HashMap<>(kafka.clientProperties());
		properties.put("request.timeout.ms", 3000);
		properties.put("delivery.timeout.ms", (int) TIMEOUT.toMillis());
		properties.put("linger.ms", 0);
		ByteArraySerializer bytes = new ByteArraySerializer();
		this.producer = new KafkaProducer<>(properties, bytes, bytes);
		this.timer.scheduleAtFixedRate(this::feed, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
	}

	private static int created(EmbeddedKafka kafka, String topic, int partitions) {
		kafka.createTopic(topic, partitions);
		return partitions;
	}

	private void feed() {
		for (int partition = 0; partition < this.begun.length(); partition++) {
			if (this.begun.get(partition) == this.acknowledged.get(partition)) {
				send(partition, this.begun.incrementAndGet(partition));
			}
		}
	}

	private void send(int partition, long number) {
		byte[] payload = Long.toString(number).getBytes(StandardCharsets.UTF_8);
		this.producer.send(new ProducerRecord<>(this.topic, partition, null, payload), (metadata, ex) -> {
			if (ex == null) {
				this.acknowledged.set(partition, number);
			}
			else {
				// The partition gets nothing more, and the test that asks gets the
				// failure.
				this.failure.compareAndSet(null, ex);
			}
		});
	}

	/**
	 * Has somebody else append the next number of a partition, who returns once Kafka has
	 * acknowledged it.
	 */
	void appendNext(int partition, LongConsumer append) {
		CompletableFuture.runAsync(() -> {
			Awaitility.await()
				.atMost(TIMEOUT)
				.until(() -> this.begun.get(partition) == this.acknowledged.get(partition));
			append.accept(this.begun.incrementAndGet(partition));
			this.acknowledged.incrementAndGet(partition);
		}, this.timer).join();
	}

	/** How many records each shard has at least. */
	Map<ShardId, Long> sent() {
		assertThat(this.failure.get()).as("what Kafka has refused").isNull();
		Map<ShardId, Long> sent = new TreeMap<>();
		IntStream.range(0, this.acknowledged.length())
			.forEach((partition) -> sent.put(ShardId.of(this.topic, partition), this.acknowledged.get(partition)));
		return sent;
	}

	/** Stops feeding and returns the number of records of each shard. */
	Map<ShardId, Long> stop() {
		this.timer.shutdown();
		Awaitility.await()
			.atMost(TIMEOUT)
			.until(() -> this.timer.isTerminated() && IntStream.range(0, this.begun.length())
				.allMatch((partition) -> this.failure.get() != null
						|| this.begun.get(partition) == this.acknowledged.get(partition)));
		return sent();
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
		this.producer.close(Duration.ZERO);
	}

}
