package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.FixedMetric;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.Throttling;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Failures that brokers do not produce on demand: the consumer is replaced.
 */
@CapturesOutput
class KafkaShardReaderTests {

	private static final AtomicInteger NUMBERS = new AtomicInteger();

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId OTHER = ShardId.of("orders", 1);

	private final String topic = "reader-" + NUMBERS.incrementAndGet();

	private final TopicPartition partition = new TopicPartition(this.topic, 0);

	private final TopicPartition otherPartition = new TopicPartition(this.topic, 1);

	private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

	private final List<MockConsumer<String, byte[]>> consumers = new ArrayList<>();

	/** Of consumers that are opened from now on. */
	private final Map<MetricName, Metric> metrics = new ConcurrentHashMap<>();

	private Runnable metadataChanged;

	private KafkaException denied;

	private KafkaAdmin admin;

	private KafkaShardReader reader;

	private RecordingSink sink;

	private RecordingSink otherSink;

	@BeforeEach
	void startBothShards() throws InterruptedException {
		EmbeddedKafka.shared().createTopic(this.topic, 2);
		KafkaSourceSettings settings = KafkaSourceSettings.of(Map.of("orders", KafkaTopic.named(this.topic)),
				EmbeddedKafka.shared().clientProperties());
		KafkaFailure failures = new KafkaFailure(settings.servers());
		this.admin = new KafkaAdmin(settings.adminProperties(""), failures, KafkaClientListener.NONE);
		TopicDirectory directory = new TopicDirectory(settings, this.admin, failures, this.executor);
		directory.awaitRefresh();
		this.reader = new KafkaShardReader((onMetadata) -> {
			MockConsumer<String, byte[]> created = new MockConsumer<>("none") {

				private final Map<MetricName, Metric> own = Map.copyOf(KafkaShardReaderTests.this.metrics);

				@Override
				public synchronized Map<MetricName, ? extends Metric> metrics() {
					return this.own;
				}

				@Override
				public synchronized List<PartitionInfo> partitionsFor(String name, Duration timeout) {
					if (KafkaShardReaderTests.this.denied != null) {
						throw KafkaShardReaderTests.this.denied;
					}
					return super.partitionsFor(name, timeout);
				}

			};
			this.consumers.add(created);
			this.metadataChanged = onMetadata;
			return created;
		}, KafkaClientListener.NONE, new OffsetLookup(this.admin, settings.isolationLevel()), directory, failures, null,
				new Throttling(Throttling.Side.READING, "reader"), null, settings.fetchWait(),
				settings.refreshInterval());
		this.sink = start(SHARD);
		this.otherSink = start(OTHER);
		// The first refresh for the reader wakes it if the new topic looks different now.
		directory.awaitRefresh();
		await().atMost(Duration.ofSeconds(10)).until(this.reader::poll);
		assertThat(consumer().assignment()).containsExactlyInAnyOrder(this.partition, this.otherPartition);
	}

	@AfterEach
	void close() {
		this.reader.close();
		this.admin.close();
		this.executor.shutdownNow();
	}

	@Test
	void damagedBatchDelaysItsPartitionOnly() throws InterruptedException {
		consumer().setPollException(new KafkaException(
				"Record batch for partition %s at offset 5 is invalid, cause: crc".formatted(this.partition)));
		assertThat(this.reader.poll()).isTrue();
		assertThat(this.reader.problems()).containsOnlyKeys(SHARD)
			.hasEntrySatisfying(SHARD, (problem) -> assertThat(problem).contains("at offset 5 is invalid"));
		this.reader.poll();
		assertThat(consumer().assignment()).containsExactly(this.otherPartition);
		deliver(this.otherPartition, 5);
		assertThat(this.otherSink.await(1)).extracting((each) -> each.offset().value()).containsExactly("5");

		await().atMost(Duration.ofSeconds(10)).until(() -> {
			this.reader.poll();
			return consumer().assignment().contains(this.partition);
		});
		assertThat(consumer().position(this.partition)).isEqualTo(5);
		deliver(this.partition, 5);
		assertThat(this.sink.await(1)).hasSize(1);
		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	void topicThatNewMetadataDeniesIsAProblemOfItsShards() throws InterruptedException {
		this.denied = new TopicAuthorizationException(Set.of(this.topic));
		this.metadataChanged.run();
		assertThat(this.reader.poll()).isTrue();
		assertThat(this.reader.problems()).containsOnlyKeys(SHARD, OTHER)
			.hasEntrySatisfying(SHARD, (problem) -> assertThat(problem).contains("denies the access"));
		this.denied = null;

		await().atMost(Duration.ofSeconds(10)).until(() -> {
			this.reader.poll();
			return consumer().assignment().size() == 2;
		});
		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	void causeOfADamagedRecordDoesNotHideItsPartition() throws InterruptedException {
		consumer().setPollException(new KafkaException(
				"Received exception when fetching the next record from %s. If needed, please seek past the record to continue consumption."
					.formatted(this.partition),
				new CorruptRecordException("crc")));
		assertThat(this.reader.poll()).isTrue();
		assertThat(this.reader.problems()).containsOnlyKeys(SHARD)
			.hasEntrySatisfying(SHARD,
					(problem) -> assertThat(problem).contains("next record from " + this.partition).contains("crc"));
	}

	@Test
	@Tag("proof")
	void consumerThatReceivesNothingIsReplacedAndOneThatDoesIsNot() throws InterruptedException {
		deliver(this.partition, 5);
		this.sink.await(1);
		metric("fetch-total", 0.0);
		metric("incoming-byte-total", 0.0);
		consumer().schedulePollTask(() -> {
			throw new IllegalStateException("replaced by the test");
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.reader::poll);
		pollUntilItFails();
		assertThat(consumer().closed()).isTrue();

		metric("incoming-byte-total", 100.0);
		pollUntilItFails();
		assertThat(consumer().closed()).isFalse();
		assertThat(this.consumers).hasSize(3);
		assertThat(consumer().assignment()).containsExactlyInAnyOrder(this.partition, this.otherPartition);
		assertThat(consumer().position(this.partition)).isEqualTo(6);
	}

	private void metric(String name, double value) {
		MetricName metric = new MetricName(name, "any", "", Map.of());
		this.metrics.put(metric, new FixedMetric(metric, value));
	}

	private void pollUntilItFails() {
		await().atMost(Duration.ofSeconds(30))
			.pollDelay(Duration.ZERO)
			.untilAsserted(
					() -> assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.reader::poll)
						.withMessageContaining("no reply to a fetch"));
	}

	@Test
	void failureOfAllPartitionsFailsThePollAndKeepsTheConsumer() throws InterruptedException {
		consumer().setPollException(new KafkaException("something else"));
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.reader::poll)
			.withMessageContaining("something else");
		deliver(this.partition, 5);

		assertThat(this.sink.await(1)).hasSize(1);
		assertThat(this.consumers).hasSize(1);
	}

	@Test
	void recordsThatTheLogHasLostAreReadAgainFromWhereItDiverges(CapturedOutput output) throws InterruptedException {
		deliver(this.partition, 5);
		this.sink.await(1);
		append(0, 8);
		consumer().setPollException(new LogTruncationException(Map.of(this.partition, 6L),
				Map.of(this.partition, new OffsetAndMetadata(3, Optional.of(4), ""))));
		assertThat(this.reader.poll()).isTrue();
		// Kafka is asked first whether it is still the same topic.
		await().until(() -> {
			this.reader.poll();
			return consumer().assignment().contains(this.partition) && !this.sink.moves().isEmpty();
		});

		assertThat(this.sink.moves()).singleElement().asString().startsWith("reused after 2:4:");
		assertThat(consumer().position(this.partition)).isEqualTo(3);
		assertThat(output).contains("the partition has lost records that were read");
		deliver(this.partition, 3);
		assertThat(this.sink.await(1)).extracting((each) -> each.offset().value()).containsExactly("3");
		assertThat(this.otherSink.moves()).isEmpty();
		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	@Tag("proof")
	void consumerThatFailsUnexpectedlyIsReplacedAndReadingContinuesWhereItWas() throws InterruptedException {
		deliver(this.partition, 5);
		consumer().schedulePollTask(() -> {
			throw new IllegalStateException("expected by the test");
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.reader::poll)
			.withMessageContaining("expected by the test");
		assertThat(consumer().closed()).isTrue();
		this.reader.poll();

		assertThat(this.consumers).hasSize(2);
		assertThat(consumer().position(this.partition)).isEqualTo(6);
		assertThat(consumer().position(this.otherPartition)).isEqualTo(5);
	}

	@Test
	void wakeUpThatComesTooLateLosesNothing() throws InterruptedException {
		consumer().wakeup();
		consumer().addRecord(each(this.partition, 5));
		assertThat(this.reader.poll()).isFalse();
		assertThat(this.reader.poll()).isTrue();

		assertThat(this.sink.await(1)).hasSize(1);
	}

	@Test
	void pausedPartitionStaysPausedWhenOthersComeAndGo() throws InterruptedException {
		RecordingSink full = new RecordingSink(false);
		this.reader.start(SHARD, new Offset("4"), full);
		this.reader.poll();
		deliver(this.partition, 5);
		assertThat(consumer().paused()).containsExactly(this.partition);
		this.reader.stop(OTHER);
		this.reader.poll();
		start(OTHER);
		this.reader.poll();
		assertThat(consumer().paused()).containsExactly(this.partition);
		this.reader.resume(SHARD);
		this.reader.poll();

		assertThat(consumer().paused()).isEmpty();
		assertThat(consumer().position(this.partition)).isEqualTo(6);
	}

	@Test
	void restartedShardIsNotPaused() throws InterruptedException {
		this.reader.start(SHARD, new Offset("4"), new RecordingSink(false));
		this.reader.poll();
		deliver(this.partition, 5);
		start(SHARD);
		this.reader.poll();

		assertThat(consumer().paused()).isEmpty();
		assertThat(consumer().position(this.partition)).isEqualTo(5);
	}

	@Test
	void checkpointOfAnotherSourceIsAProblemOfItsShardUntilItsPositionIsSet() throws InterruptedException {
		this.reader.start(SHARD, new Offset("1795234348101-0"), new RecordingSink(true));
		this.reader.poll();
		assertThat(this.reader.problems()).containsOnlyKeys(SHARD)
			.hasEntrySatisfying(SHARD,
					(problem) -> assertThat(problem).contains("'1795234348101-0' is no offset of a Kafka partition")
						.contains("ShardPositions"));
		assertThat(consumer().assignment()).containsExactly(this.otherPartition);
		this.sink = start(SHARD);
		this.reader.poll();
		deliver(this.partition, 5);

		assertThat(this.sink.await(1)).hasSize(1);
		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	void closedReaderClosesItsConsumerAndCallsNoSink() throws InterruptedException {
		MockConsumer<String, byte[]> consumer = consumer();
		this.reader.close();

		assertThat(consumer.closed()).isTrue();
		assertThat(this.reader.poll()).isFalse();
		assertThat(this.consumers).hasSize(1);
	}

	/** Appends records to Kafka itself, where the reader looks up the ends. */
	private void append(int number, int count) {
		Map<String, Object> properties = EmbeddedKafka.shared().clientProperties();
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties, new ByteArraySerializer(),
				new ByteArraySerializer())) {
			for (int i = 0; i < count; i++) {
				producer.send(new ProducerRecord<>(this.topic, number, null, new byte[0]));
			}
			producer.flush();
		}
	}

	private RecordingSink start(ShardId shard) {
		RecordingSink started = new RecordingSink(true);
		this.reader.start(shard, new Offset("4"), started);
		return started;
	}

	private MockConsumer<String, byte[]> consumer() {
		return this.consumers.get(this.consumers.size() - 1);
	}

	/**
	 * More than one poll: a refresh of the directory that ends just then wakes the
	 * reader.
	 */
	private void deliver(TopicPartition of, long offset) {
		consumer().addRecord(each(of, offset));
		await().atMost(Duration.ofSeconds(10)).until(this.reader::poll);
	}

	private static ConsumerRecord<String, byte[]> each(TopicPartition of, long offset) {
		return new ConsumerRecord<>(of.topic(), of.partition(), offset, "key", new byte[0]);
	}

}
