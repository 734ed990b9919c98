package io.github.shardkeeper.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.reading.KafkaOffset;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * What Kafka has and other sources have not.
 */
@CapturesOutput
class KafkaReadingTests {

	private static final AtomicInteger NUMBERS = new AtomicInteger();

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final String topic = "reading-" + NUMBERS.incrementAndGet();

	@Test
	void abortedRecordsAreInvisibleWithReadCommitted() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		Map<String, Object> properties = this.kafka.clientProperties();
		properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
		try (PolledSource committed = PolledSource.of(properties, "orders", KafkaTopic.named(this.topic));
				PolledSource all = source(KafkaTopic.named(this.topic));
				KafkaProducer<byte[], byte[]> producer = producer(Map.of("transactional.id", this.topic))) {
			RecordingSink sink = committed.start(SHARD, null);
			producer.initTransactions();
			transaction(producer, "a1", "a2");
			producer.commitTransaction();
			transaction(producer, "aborted");
			producer.abortTransaction();
			transaction(producer, "b1");
			producer.commitTransaction();
			transaction(producer, "open");

			List<SourceRecord> records = sink.await(3);
			assertThat(PolledSource.payloads(records)).containsExactly("a1", "a2", "b1");
			assertThat(records).extracting((each) -> each.offset().value())
				.as("markers and aborted records have offsets too")
				.containsExactly("0", "1", "5");
			assertThat(PolledSource.payloads(all.start(SHARD, null).await(5))).containsExactly("a1", "a2", "aborted",
					"b1", "open");
			assertThat(committed.source().before(StartPosition.LATEST, List.of(SHARD)))
				.as("a record that may be committed later is not skipped")
				.isEqualTo(Map.of(SHARD, position(6)));
			assertThat(all.source().before(StartPosition.LATEST, List.of(SHARD))).isEqualTo(Map.of(SHARD, position(7)));
			producer.commitTransaction();
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("open");
		}
	}

	@Test
	void readingResumesAfterTheMarkerOfATransaction() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic));
				KafkaProducer<byte[], byte[]> producer = producer(Map.of("transactional.id", this.topic))) {
			producer.initTransactions();
			transaction(producer, "a");
			producer.commitTransaction();
			RecordingSink sink = source.start(SHARD, "0");
			transaction(producer, "b");
			producer.commitTransaction();

			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("b");
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	@Test
	void expiredMarkerAfterTheCheckpointIsNoReset(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic).withReset(ResetPolicy.STOP));
				KafkaProducer<byte[], byte[]> producer = producer(Map.of("transactional.id", this.topic))) {
			producer.initTransactions();
			transaction(producer, "a", "b");
			producer.commitTransaction();
			RecordingSink sink = source.start(SHARD, null);
			sink.await(2);
			source.reader().committed(SHARD, new Offset("1"));
			await().untilAsserted(() -> assertThat(PolledSource.moves(sink)).containsExactly("after 2"));
			source.reader().committed(SHARD, new Offset("2"));
			source.reader().stop(SHARD);

			deleteRecordsBefore(3);
			RecordingSink next = source.start(SHARD, "2");
			transaction(producer, "c");
			producer.commitTransaction();
			assertThat(PolledSource.payloads(next.await(1))).containsExactly("c");
			assertThat(output).doesNotContain("was to be read from");
			assertThat(sink.moves()).hasSize(1);
		}
	}

	@Test
	void gapsOfACompactedTopicAreNoProblem() throws Exception {
		this.kafka.createTopic(this.topic, 1, Map.of("cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.01",
				"segment.ms", "100", "max.compaction.lag.ms", "100"));
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 1, 50);
			await().atMost(Duration.ofSeconds(60)).until(() -> {
				// A new segment lets the cleaner compact the one before.
				source.append(SHARD, 99, 99);
				RecordingSink sink = source.start(SHARD, null);
				String first = sink.await(1).get(0).offset().value();
				source.reader().stop(SHARD);
				return !first.equals("0");
			});
			RecordingSink sink = source.start(SHARD, "5");
			List<SourceRecord> records = sink.await(1);

			// The last one of a segment that was compacted before there was "r99", or
			// that.
			assertThat(PolledSource.payloads(records).get(0)).isIn("r50", "r99");
			assertThat(source.failures()).isEmpty();
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	@Test
	void binaryKeysAndHeadersAreBase64AndTombstonesEmpty() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		byte[] binary = { 0, (byte) 0xff, 7 };
		try (PolledSource source = source(KafkaTopic.named(this.topic));
				KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
			ProducerRecord<byte[], byte[]> sent = new ProducerRecord<>(this.topic, 0, 1_700_000_000_000L, binary, null,
					List.of());
			sent.headers().add("binary", binary).add("none", null).add("twice", bytes("1")).add("twice", bytes("2"));
			producer.send(sent).get();
			producer.send(new ProducerRecord<>(this.topic, 0, bytes("ké\ufffdy"), bytes("value"))).get();

			List<SourceRecord> records = source.start(SHARD, null).await(2);
			assertThat(records.get(0).key()).isEqualTo("base64:AP8H");
			assertThat(records.get(0).payload()).isEmpty();
			assertThat(records.get(0).headers()).isEqualTo(Map.of("kafka.tombstone", "true", "binary", "base64:AP8H",
					"none", "", "kafka.null.none", "true", "twice", "2"));
			assertThat(records.get(0).timestampMillis()).isEqualTo(1_700_000_000_000L);
			assertThat(records.get(1).key()).isEqualTo("ké\ufffdy");
			assertThat(records.get(1).headers()).isEmpty();
		}
	}

	@Test
	void recordOfThePastStaysUnlessItsTopicLimitsTheAge() throws Exception {
		String limited = this.topic + "-limited";
		this.kafka.createTopic(this.topic, 1);
		this.kafka.createTopic(limited, 1, Map.of("retention.ms", "1000"));
		try (PolledSource source = source(KafkaTopic.named(this.topic));
				KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
			for (String name : List.of(this.topic, limited)) {
				producer.send(new ProducerRecord<>(name, 0, 1_700_000_000_000L, null, bytes("old"))).get();
			}
			// The topic that comes last shows that old records have been looked for.
			await().until(() -> offsetOf(limited, OffsetSpec.earliest()), (first) -> first == 1);

			assertThat(PolledSource.payloads(source.start(SHARD, null).await(1))).containsExactly("old");
		}
	}

	@Test
	void addedPartitionsAreNoticedWhileSomebodyWatches() throws Exception {
		this.kafka.createTopic(this.topic, 2);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			assertThat(source.source().topics()).containsEntry("orders", TopicShards.count(2));
			CountDownLatch changed = new CountDownLatch(1);
			source.source().watch(changed::countDown);
			addPartitions(3);

			assertThat(changed.await(10, TimeUnit.SECONDS)).isTrue();
			// A call may come without a change.
			await().untilAsserted(
					() -> assertThat(source.source().topics()).containsEntry("orders", TopicShards.count(3)));
			RecordingSink sink = source.start(ShardId.of("orders", 2), null);
			source.append(ShardId.of("orders", 2), 1, 1);
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("r1");
		}
	}

	@Test
	void topicOfAPatternHasTheShardsOfAllKafkaTopicsThatMatch() throws Exception {
		this.kafka.createTopic(this.topic + ".eu", 2);
		this.kafka.createTopic(this.topic + ".us", 1);
		Pattern pattern = Pattern.compile(Pattern.quote(this.topic) + "\\..*");
		try (PolledSource source = source(KafkaTopic.matching(pattern));
				KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
			assertThat(source.source().topics()).containsEntry("orders", TopicShards.of(Map.of(this.topic + ".eu-0",
					List.of(), this.topic + ".eu-1", List.of(), this.topic + ".us-0", List.of())));
			RecordingSink sink = source.start(new ShardId("orders", this.topic + ".eu-1"), null);
			producer.send(new ProducerRecord<>(this.topic + ".eu", 1, null, bytes("hello"))).get();
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("hello");

			this.kafka.createTopic(this.topic + ".asia", 1);
			await().untilAsserted(
					() -> assertThat(source.source().topics().get("orders").contains(this.topic + ".asia-0")).isTrue());
			assertThatExceptionOfType(ShardkeeperConfigurationException.class)
				.isThrownBy(() -> source.source().refresh("orders", true))
				.withMessageContaining("pattern");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> source.source()
					.check(new NewRecord(new ShardId("orders", this.topic + ".eu-1"), null, new byte[0])))
				.withMessageContaining("pattern");
		}
	}

	@Test
	void listenerThatFailsIsNotifiedAgainAndDoesNotEndTheRefreshes() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			AtomicInteger calls = new AtomicInteger();
			source.source().watch(() -> {
				calls.incrementAndGet();
				throw new NoClassDefFoundError("expected by the test");
			});
			await().until(() -> calls.get() > 2);
			addPartitions(2);

			await().untilAsserted(
					() -> assertThat(source.source().topics()).containsEntry("orders", TopicShards.count(2)));
		}
	}

	@Test
	void deletedTopicOfAPatternIsAProblemOfItsShardsUntilItIsCreatedAgain() throws Exception {
		this.kafka.createTopic(this.topic + ".eu", 1);
		this.kafka.createTopic(this.topic + ".us", 1);
		KafkaTopic mapping = KafkaTopic.matching(Pattern.compile(Pattern.quote(this.topic) + "\\..*"));
		ShardId deleted = new ShardId("orders", this.topic + ".eu-0");
		try (PolledSource source = source(mapping); KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
			RecordingSink sink = source.start(deleted, null);
			source.start(new ShardId("orders", this.topic + ".us-0"), null);
			deleteTopic(this.topic + ".eu");
			await().untilAsserted(() -> assertThat(source.reader().problems()).containsOnlyKeys(deleted)
				.hasEntrySatisfying(deleted,
						(problem) -> assertThat(problem).contains("'%s.eu' does not exist".formatted(this.topic))));
			await().untilAsserted(() -> assertThat(source.source().topics()).containsEntry("orders",
					TopicShards.of(Map.of(this.topic + ".us-0", List.of()))));
			assertThat(source.source().problems()).as("it may have been deleted for good").isEmpty();
			try (PolledSource next = source(mapping)) {
				next.start(deleted, null);
				await().untilAsserted(() -> assertThat(next.reader().problems()).hasEntrySatisfying(deleted,
						(problem) -> assertThat(problem).contains("'%s.eu' cannot be found".formatted(this.topic))));
			}

			this.kafka.createTopic(this.topic + ".eu", 1);
			producer.send(new ProducerRecord<>(this.topic + ".eu", 0, null, bytes("hello"))).get();
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("hello");
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	@Test
	void topicThatIsCreatedAgainBetweenTwoRefreshesIsReadOnce() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = rarelyRefreshed()) {
			RecordingSink sink = source.start(SHARD, null);
			source.append(SHARD, 1, 5);
			sink.await(5);
			replaceTopic();
			await().ignoreExceptions().until(() -> !source.append(SHARD, 6, 6).isEmpty());
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("r6");
			assertThat(source.source().shards("orders")).as("after a refresh").isEqualTo(1);
			source.append(SHARD, 7, 7);

			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("r7");
			assertThat(PolledSource.moves(sink)).containsExactly("reused after -1");
		}
	}

	@Test
	void missingTopicIsAProblemUntilItIsCreatedAndDelaysNoOther() throws Exception {
		this.kafka.createTopic(this.topic + "-other", 1);
		Map<String, KafkaTopic> topics = Map.of("orders", KafkaTopic.named(this.topic), "other",
				KafkaTopic.named(this.topic + "-other"));
		ShardId other = ShardId.of("other", 0);
		try (PolledSource source = new PolledSource(
				PolledSource.settings(this.kafka.clientProperties(), topics, null))) {
			assertThat(source.source().topics()).containsEntry("orders", TopicShards.NONE)
				.containsEntry("other", TopicShards.count(1));
			assertThat(source.source().problems()).containsOnlyKeys("orders")
				.hasEntrySatisfying("orders",
						(problem) -> assertThat(problem).contains("'%s' does not exist".formatted(this.topic))
							.contains("'shardkeeper.kafka.topics.orders.name'"));
			RecordingSink sink = source.start(SHARD, null);
			RecordingSink otherSink = source.start(other, null);
			source.append(other, 1, 1);
			otherSink.await(1);
			await().untilAsserted(() -> assertThat(source.reader().problems()).containsOnlyKeys(SHARD));
			assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> source.append(SHARD, 1, 1))
				.withMessageContaining("does not exist")
				.satisfies((failure) -> assertThat(failure.mayHaveBeenAppended()).isFalse());

			this.kafka.createTopic(this.topic, 1);
			await().untilAsserted(() -> assertThat(source.source().problems()).isEmpty());
			source.append(SHARD, 1, 1);
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("r1");
			assertThat(source.reader().problems()).isEmpty();
			assertThat(source.failures()).isEmpty();
		}
	}

	@Test
	void deletedTopicIsAProblemAndIsReadFromItsBeginningWhenItIsCreatedAgain(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			RecordingSink sink = source.start(SHARD, null);
			source.append(SHARD, 1, 5);
			sink.await(5);
			deleteTopic();
			await().untilAsserted(() -> assertThat(source.source().problems()).containsKey("orders"));
			assertThat(source.source().topics()).as("what is known").containsEntry("orders", TopicShards.count(1));
			await().untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(SHARD,
					(problem) -> assertThat(problem).contains("does not exist")));

			this.kafka.createTopic(this.topic, 1);
			await().untilAsserted(() -> assertThat(source.source().problems()).isEmpty());
			source.append(SHARD, 6, 12);
			assertThat(PolledSource.payloads(sink.await(7))).containsExactly("r6", "r7", "r8", "r9", "r10", "r11",
					"r12");
			assertThat(source.reader().problems()).isEmpty();
			assertThat(output).contains("was deleted and created again");
			assertThat(PolledSource.moves(sink)).containsExactly("reused after -1");
		}
	}

	@Test
	void checkpointKeepsTheEpochAndTheTopicOfItsOffset() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 1, 2);
			List<SourceRecord> records = source.start(SHARD, null).await(2);

			assertThat(records).extracting(SourceRecord::offset).containsExactly(new Offset("0"), new Offset("1"));
			assertThat(records).extracting(SourceRecord::position)
				.containsExactly(new Offset("0:0:" + topicId()), new Offset("1:0:" + topicId()));
		}
	}

	@Test
	void topicThatIsCreatedAgainWhileNobodyReadsIsReadFromItsBeginning(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		Uuid before = topicId();
		SourceRecord last;
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 1, 5);
			last = source.start(SHARD, null).await(5).get(4);
		}
		replaceTopic();
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 6, 15);
			RecordingSink sink = source.start(SHARD, last.position().value());

			assertThat(PolledSource.payloads(sink.await(10))).containsExactly("r6", "r7", "r8", "r9", "r10", "r11",
					"r12", "r13", "r14", "r15");
			assertThat(sink.moves()).containsExactly("reused after -1:" + topicId());
			assertThat(output).contains("orders/0 was to be read from offset 5")
				.contains("deleted and created again, or is that of another cluster (its id was %s, and is %s)"
					.formatted(before, topicId()))
				.contains("Reading resumes at offset 0 ('shardkeeper.topics.orders.reset: earliest')");
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	@Test
	void topicThatIsCreatedAgainWhileNobodyReadsStopsTheShardUntilItsPositionIsSet() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		KafkaTopic stopping = KafkaTopic.named(this.topic).withReset(ResetPolicy.STOP);
		try (PolledSource source = source(stopping)) {
			source.append(SHARD, 1, 5);
			RecordingSink stopped = source.start(SHARD, "2:0:" + Uuid.randomUuid());
			await().untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(SHARD,
					(problem) -> assertThat(problem).contains("of another cluster").contains("ShardPositions")));
			RecordingSink sink = source.start(SHARD, "2");

			assertThat(PolledSource.payloads(sink.await(2))).containsExactly("r4", "r5");
			assertThat(stopped.delivered()).isZero();
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	/** As in an instance whose last look at the topic is older than the checkpoint. */
	@Test
	void checkpointOfATopicThatAnotherInstanceKnewFirstIsNoReset(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = rarelyRefreshed()) {
			source.append(SHARD, 1, 5);
			source.start(SHARD, null).await(5);
			source.reader().stop(SHARD);
			replaceTopic();
			await().ignoreExceptions().until(() -> !source.append(SHARD, 6, 9).isEmpty());
			RecordingSink sink = source.start(SHARD, "1:0:" + topicId());

			assertThat(PolledSource.payloads(sink.await(2))).containsExactly("r8", "r9");
			assertThat(sink.moves()).isEmpty();
			assertThat(output).doesNotContain("was to be read from");
		}
	}

	@Test
	void epochThatTheBrokersHaveNotReachedIsAResetAndNoStandstill(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 1, 5);
			RecordingSink sink = source.start(SHARD, "2:99:" + topicId());

			assertThat(PolledSource.payloads(sink.await(5))).containsExactly("r1", "r2", "r3", "r4", "r5");
			assertThat(output).contains("orders/0 was to be read from offset 3");
		}
	}

	@Test
	void fewerPartitionsThanBeforeAreAProblemOfTopicAndShards() throws Exception {
		this.kafka.createTopic(this.topic, 3);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			assertThat(source.source().topics()).containsEntry("orders", TopicShards.count(3));
			ShardId gone = ShardId.of("orders", 2);
			source.start(gone, null);
			deleteTopic();
			await().untilAsserted(() -> assertThat(source.source().problems()).containsKey("orders"));
			this.kafka.createTopic(this.topic, 1);

			await().untilAsserted(() -> assertThat(source.source().problems()).hasEntrySatisfying("orders",
					(problem) -> assertThat(problem).contains("has 1 partitions, but had 3 before")));
			await().untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(gone,
					(problem) -> assertThat(problem).contains("none with the number 2")));
			RecordingSink sink = source.start(SHARD, null);
			source.append(SHARD, 1, 1);
			sink.await(1);
		}
	}

	@Test
	void logThatWasTruncatedBelowTheCheckpointIsReadFromItsNewBeginning(CapturedOutput output) throws Exception {
		try (PolledSource source = truncated(ResetPolicy.EARLIEST)) {
			RecordingSink sink = source.start(SHARD, "1");

			assertThat(PolledSource.payloads(sink.await(3))).containsExactly("r8", "r9", "r10");
			assertThat(output)
				.contains("orders/0 was to be read from offset 2 of the Kafka partition %s-0".formatted(this.topic))
				.contains("from 7 to before 10")
				.contains("Reading resumes at offset 7 ('shardkeeper.topics.orders.reset: earliest')")
				.contains("Up to 5 records are lost");
			assertThat(PolledSource.moves(sink)).containsExactly("after 6");
			assertThat(source.reader().problems()).isEmpty();
			assertThat(source.failures()).isEmpty();
		}
	}

	@Test
	void logThatWasTruncatedBelowTheCheckpointIsReadFromItsEnd(CapturedOutput output) throws Exception {
		try (PolledSource source = truncated(ResetPolicy.LATEST)) {
			RecordingSink sink = source.start(SHARD, "1");
			await().until(() -> output.getOut().contains("Reading resumes at offset 10"));
			source.append(SHARD, 11, 11);

			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("r11");
		}
	}

	@Test
	void positionAfterAResetIsGivenToTheWorker() throws Exception {
		try (PolledSource source = truncated(ResetPolicy.LATEST)) {
			RecordingSink sink = source.start(SHARD, "1");
			await().until(() -> !sink.moves().isEmpty());
			source.append(SHARD, 11, 11);
			source.reader().stop(SHARD);

			assertThat(PolledSource.moves(sink)).containsExactly("after 9");
			assertThat(PolledSource.payloads(source.start(SHARD, "9").await(1))).as("what the next owner reads")
				.containsExactly("r11");
		}
	}

	@Test
	void logThatWasTruncatedBelowTheCheckpointStopsTheShardUntilItsPositionIsSet() throws Exception {
		try (PolledSource source = truncated(ResetPolicy.STOP)) {
			RecordingSink stopped = source.start(SHARD, "1");
			await().untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(SHARD,
					(problem) -> assertThat(problem).contains("is not read").contains("ShardPositions")));
			source.append(SHARD, 11, 11);
			RecordingSink sink = source.start(SHARD, "8");

			assertThat(PolledSource.payloads(sink.await(2))).containsExactly("r10", "r11");
			assertThat(source.reader().problems()).isEmpty();
			assertThat(stopped.delivered()).isZero();
		}
	}

	@Test
	void checkpointBeyondTheEndOfTheLogIsReset(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 1, 3);
			RecordingSink sink = source.start(SHARD, "500");

			assertThat(PolledSource.payloads(sink.await(3))).containsExactly("r1", "r2", "r3");
			assertThat(output).contains("offset 501").contains("It is unknown how many records are lost");
			assertThat(PolledSource.moves(sink)).containsExactly("reused after -1");
		}
	}

	@Test
	void noOffsetMeansTheFirstRecordThatExistsWithoutAReset(CapturedOutput output) throws Exception {
		try (PolledSource source = truncated(ResetPolicy.STOP)) {
			assertThat(PolledSource.payloads(source.start(SHARD, null).await(1))).containsExactly("r8");
			Offset earliest = source.source().before(StartPosition.EARLIEST, List.of(SHARD)).get(SHARD);
			assertThat(PolledSource.payloads(source.start(SHARD, earliest.value()).await(1))).containsExactly("r8");
			assertThat(output).doesNotContain("was to be read from");
		}
	}

	@Test
	void pausedShardKeepsWhatIsFetchedAndContinuesInOrder() throws Exception {
		this.kafka.createTopic(this.topic, 2);
		ShardId other = ShardId.of("orders", 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			source.append(SHARD, 1, 10_000);
			RecordingSink sink = new RecordingSink(false);
			RecordingSink otherSink = source.start(other, null);
			source.reader().start(SHARD, null, sink);
			sink.await(1);
			List<String> read = new ArrayList<>(List.of("r1"));
			source.append(other, 1, 1);
			otherSink.await(1);
			int paused = sink.delivered();
			assertThat(paused).isLessThan(10_000);
			while (read.size() < 10_000) {
				List<SourceRecord> records = sink.pending();
				if (!records.isEmpty()) {
					read.addAll(PolledSource.payloads(sink.await(records.size())));
				}
				source.reader().resume(SHARD);
			}

			assertThat(read).hasSize(10_000).doesNotHaveDuplicates();
			assertThat(read.get(9_999)).isEqualTo("r10000");
			assertThat(read).isEqualTo(IntStream.rangeClosed(1, 10_000).mapToObj((n) -> "r" + n).toList());
		}
	}

	@Test
	void committedOffsetsAreMirroredIntoAKafkaGroup() throws Exception {
		this.kafka.createTopic(this.topic, 2);
		String group = "group-" + UUID.randomUUID();
		KafkaSourceSettings settings = PolledSource.settings(this.kafka.clientProperties(),
				Map.of("orders", KafkaTopic.named(this.topic)), group);
		TopicPartition partition = new TopicPartition(this.topic, 0);
		try (Admin admin = this.kafka.admin()) {
			try (PolledSource source = new PolledSource(settings)) {
				source.append(SHARD, 1, 3);
				source.start(SHARD, "0:0:" + topicId());
				await().untilAsserted(() -> assertThat(offsets(admin, group)).as("what was acquired")
					.isEqualTo(Map.of(partition, new OffsetAndMetadata(1, Optional.of(0), ""))));
				source.reader().committed(SHARD, new Offset("1:0:" + topicId()));
				source.reader().committed(SHARD, new Offset("2:0:" + topicId()));
				source.start(ShardId.of("orders", 1), null);
				source.reader().committed(ShardId.of("orders", 1), new Offset("-1"));

				await().untilAsserted(() -> assertThat(offsets(admin, group))
					.isEqualTo(Map.of(partition, new OffsetAndMetadata(3, Optional.of(0), ""),
							new TopicPartition(this.topic, 1), new OffsetAndMetadata(0))));
				source.reader().stop(SHARD);
				source.reader().committed(SHARD, new Offset("9"));
			}
			assertThat(offsets(admin, group)).as("the last commit before the source is closed")
				.containsEntry(partition, new OffsetAndMetadata(10));
		}
	}

	private static Map<TopicPartition, OffsetAndMetadata> offsets(Admin admin, String group) throws Exception {
		return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
	}

	@Test
	void twoTopicsCannotReadTheSameKafkaTopic() {
		Map<String, KafkaTopic> topics = Map.of("a", KafkaTopic.named("x"), "b", KafkaTopic.named("x"));
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> KafkaSourceSettings.of(topics, Map.of()))
			.withMessageContaining("'a' and 'b' both read the Kafka topic 'x'");
	}

	@Test
	void shardThatNamesNoPartitionIsAProblem() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			ShardId shard = new ShardId("orders", this.topic + "-0");
			source.start(shard, null);

			assertThat(source.reader().problems()).containsOnlyKeys(shard);
			source.reader().stop(shard);
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	@Test
	void recordLargerThanTheProducerSendsIsRefused() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		Map<String, Object> properties = this.kafka.clientProperties();
		properties.put("max.request.size", "10000");
		try (PolledSource source = PolledSource.of(properties, "orders", KafkaTopic.named(this.topic))) {
			NewRecord large = new NewRecord(SHARD, "key", new byte[9_990]);
			assertThatIllegalArgumentException().isThrownBy(() -> source.source().check(large))
				.withMessageContaining("max.request.size");
			source.source().check(new NewRecord(SHARD, "key", new byte[9_800]));
			assertThat(source.source().append(List.of(new NewRecord(SHARD, "key", new byte[9_800]))).get(0).join())
				.isEqualTo(new Offset("0"));
		}
	}

	@Test
	void recordThatTheBrokerRefusesFailsItsFutureOnly() throws Exception {
		this.kafka.createTopic(this.topic, 1, Map.of("max.message.bytes", "1000"));
		try (PolledSource source = source(KafkaTopic.named(this.topic))) {
			assertThatExceptionOfType(CompletionException.class).isThrownBy(
					() -> source.source().append(List.of(new NewRecord(SHARD, "key", new byte[5_000]))).get(0).join())
				.withCauseInstanceOf(SendFailedException.class)
				.satisfies((failure) -> assertThat(((SendFailedException) failure.getCause()).mayHaveBeenAppended())
					.isFalse());
			assertThat(source.append(SHARD, 1, 1)).containsExactly(new Offset("0"));
		}
	}

	/** Returns a position in the topic as it is now. */
	private Offset position(long last) throws Exception {
		return new KafkaOffset(last, null, topicId()).toOffset();
	}

	private Uuid topicId() throws Exception {
		try (Admin admin = this.kafka.admin()) {
			return admin.describeTopics(List.of(this.topic)).allTopicNames().get().get(this.topic).topicId();
		}
	}

	private PolledSource rarelyRefreshed() {
		Map<String, Object> client = this.kafka.clientProperties();
		return new PolledSource(new KafkaSourceSettings(Map.of("orders", KafkaTopic.named(this.topic)), client, client,
				client, Duration.ofHours(1), null, KafkaSourceSettings.LONG_TRANSACTION));
	}

	/** Deletes the topic and creates one of the same name. */
	private void replaceTopic() throws Exception {
		deleteTopic();
		await().ignoreExceptions().until(() -> {
			this.kafka.createTopic(this.topic, 1);
			return true;
		});
	}

	private PolledSource truncated(ResetPolicy policy) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		PolledSource source = source(KafkaTopic.named(this.topic).withReset(policy));
		source.append(SHARD, 1, 10);
		deleteRecordsBefore(7);
		return source;
	}

	private void deleteRecordsBefore(long offset) throws Exception {
		try (Admin admin = this.kafka.admin()) {
			admin.deleteRecords(Map.of(new TopicPartition(this.topic, 0), RecordsToDelete.beforeOffset(offset)))
				.all()
				.get();
		}
	}

	private long offsetOf(String topic, OffsetSpec which) throws Exception {
		TopicPartition partition = new TopicPartition(topic, 0);
		try (Admin admin = this.kafka.admin()) {
			return admin.listOffsets(Map.of(partition, which)).partitionResult(partition).get().offset();
		}
	}

	private PolledSource source(KafkaTopic mapping) {
		return PolledSource.of(this.kafka.clientProperties(), "orders", mapping);
	}

	private void addPartitions(int partitions) throws Exception {
		try (Admin admin = this.kafka.admin()) {
			admin.createPartitions(Map.of(this.topic, NewPartitions.increaseTo(partitions))).all().get();
		}
	}

	private void deleteTopic() throws Exception {
		deleteTopic(this.topic);
	}

	private void deleteTopic(String name) throws Exception {
		try (Admin admin = this.kafka.admin()) {
			admin.deleteTopics(List.of(name)).all().get();
		}
	}

	private KafkaProducer<byte[], byte[]> producer(Map<String, Object> additional) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.putAll(additional);
		return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
	}

	private void transaction(KafkaProducer<byte[], byte[]> producer, String... payloads) throws Exception {
		producer.beginTransaction();
		for (String payload : payloads) {
			producer.send(new ProducerRecord<>(this.topic, 0, null, bytes(payload))).get();
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
