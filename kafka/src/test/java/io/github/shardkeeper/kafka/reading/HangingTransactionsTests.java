package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.kafka.PolledSource;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.client.OffsetLookup.Ends;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource.Lag;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Transactions that are not ended, and hold up the readers of committed records.
 */
@CapturesOutput
class HangingTransactionsTests {

	private static final AtomicInteger NUMBERS = new AtomicInteger();

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final Duration LIMIT = Duration.ofMinutes(2);

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final String topic = "hanging-" + NUMBERS.incrementAndGet();

	private final TopicPartition partition = new TopicPartition(this.topic, 0);

	@Test
	void partitionThatATransactionHoldsUpIsAProblemUntilItsEnd(CapturedOutput output) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source("read_committed");
				KafkaProducer<byte[], byte[]> plain = producer(Map.of());
				KafkaProducer<byte[], byte[]> hanging = producer(Map.of("transactional.id", "transfers-3"))) {
			RecordingSink sink = source.start(SHARD, null);
			send(plain, "before");
			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("before");
			assertThat(source.source().lag(SHARD, new Offset("0"))).isEqualTo(new Lag(0L, Duration.ZERO, 0L));
			hanging.initTransactions();
			hanging.beginTransaction();
			send(hanging, "open");
			send(plain, "after");

			assertThat(source.source().lag(SHARD, new Offset("0"))).as("to the end, and to what can be read")
				.isEqualTo(new Lag(2L, null, 0L));
			await().untilAsserted(() -> assertThat(source.reader().problems()).containsOnlyKeys(SHARD)
				.hasEntrySatisfying(SHARD,
						(problem) -> assertThat(problem).contains(this.topic + "-0 is not read from offset 1 on")
							.contains("the transaction of 'transfers-3' has been open")
							.contains("--topic %s --partition 0 --start-offset 1".formatted(this.topic))
							.contains("'shardkeeper.kafka.long-transaction'")
							.hasSizeLessThan(500)));
			await().untilAsserted(() -> assertThat(output).contains("Open transactions hold up 1 partitions"));
			assertThat(source.failures()).isEmpty();
			assertThat(sink.pending()).isEmpty();

			hanging.commitTransaction();
			assertThat(PolledSource.payloads(sink.await(2))).containsExactly("open", "after");
			await().untilAsserted(() -> assertThat(source.reader().problems()).isEmpty());
			await().untilAsserted(() -> assertThat(output).contains("No open transaction holds up a partition"));
			assertThat(output).containsOnlyOnce("Open transactions hold up");
		}
	}

	@Test
	void openTransactionHoldsUpNobodyWhoReadsAllRecords() throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source("read_uncommitted");
				KafkaProducer<byte[], byte[]> hanging = producer(Map.of("transactional.id", this.topic))) {
			RecordingSink sink = source.start(SHARD, null);
			hanging.initTransactions();
			hanging.beginTransaction();
			send(hanging, "open");

			assertThat(PolledSource.payloads(sink.await(1))).containsExactly("open");
			assertThat(source.source().lag(SHARD, new Offset("-1"))).as("no second number")
				.isEqualTo(new Lag(1L, null, null));
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	@Test
	void partitionHangsIfItsStableOffsetStandsStillForTooLong() {
		HangingTransactions transactions = new HangingTransactions(null, null, LIMIT, Duration.ofSeconds(5));
		MonotonicTime begin = MonotonicClock.SYSTEM.now();
		assertThat(isHanging(transactions, 5, 9, begin)).isFalse();
		assertThat(isHanging(transactions, 5, 12, begin.plus(LIMIT))).as("not for longer").isFalse();
		assertThat(isHanging(transactions, 5, 12, begin.plus(LIMIT.plusMillis(1)))).isTrue();
		assertThat(isHanging(transactions, 6, 12, begin.plus(LIMIT.plusMillis(2)))).as("moves").isFalse();
		assertThat(isHanging(transactions, 12, 12, begin.plus(LIMIT.multipliedBy(2)))).as("at the end").isFalse();
		assertThat(isHanging(transactions, 12, 13, begin.plus(LIMIT.multipliedBy(4)))).as("begins again").isFalse();
	}

	private boolean isHanging(HangingTransactions transactions, long stable, long end, MonotonicTime now) {
		return transactions.isHanging(this.partition, new Ends(stable, end), now);
	}

	private PolledSource source(String isolation) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation);
		return PolledSource.of(properties, "orders", KafkaTopic.named(this.topic));
	}

	private KafkaProducer<byte[], byte[]> producer(Map<String, Object> additional) {
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		properties.putAll(additional);
		return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
	}

	private void send(KafkaProducer<byte[], byte[]> producer, String payload) throws Exception {
		producer.send(new ProducerRecord<>(this.topic, 0, null, payload.getBytes())).get();
	}

}
