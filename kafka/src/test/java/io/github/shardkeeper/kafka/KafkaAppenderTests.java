package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.client.Throttling;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What failures of a producer say about a record. The topic is that of a broker, the
 * producer is not: the times at which requests end cannot be chosen otherwise.
 */
class KafkaAppenderTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	/** On the broker that all tests of this module use. */
	private static final String TOPIC = "appended-orders";

	private final KafkaSourceSettings settings = KafkaSourceSettings.of(Map.of("orders", KafkaTopic.named(TOPIC)),
			EmbeddedKafka.shared().clientProperties());

	private final KafkaFailure failures = new KafkaFailure(this.settings.servers());

	private final KafkaAdmin admin = new KafkaAdmin(this.settings.adminProperties(""), this.failures,
			KafkaClientListener.NONE);

	private final Throttling throttling = new Throttling(Throttling.Side.SENDING, "sender");

	private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

	private final TopicDirectory directory = new TopicDirectory(this.settings, this.admin, this.failures,
			this.executor);

	@BeforeAll
	static void createTopic() {
		EmbeddedKafka.shared().createTopic(TOPIC, 1);
	}

	@BeforeEach
	void list() {
		assertThat(this.directory.topics().get("orders").size()).isEqualTo(1);
	}

	@AfterEach
	void close() {
		this.executor.shutdownNow();
		this.admin.close();
	}

	@Test
	void recordOfARequestThatTimedOutMayHaveBeenAppended() throws Exception {
		SendFailedException failure = failureOfTheSenderThread(
				new TimeoutException("Disconnected from node 1 due to timeout"));
		assertThat(failure).hasMessageContaining("No acknowledgement from orders/0")
			.hasMessageContaining("due to timeout");
		assertThat(failure.mayHaveBeenAppended()).isTrue();
	}

	@Test
	void recordThatTheBrokerRefusesWasNotAppended() throws Exception {
		SendFailedException failure = failureOfTheSenderThread(new RecordTooLargeException("too large"));
		assertThat(failure).hasMessageContaining("Not sent to orders/0");
		assertThat(failure.mayHaveBeenAppended()).isFalse();
	}

	@ParameterizedTest
	@MethodSource
	void recordOfAnErrorThatMayComeAfterAppendingMayHaveBeenAppended(RuntimeException error) throws Exception {
		SendFailedException failure = failureOfTheSenderThread(error);
		assertThat(failure).hasMessageContaining("No acknowledgement from orders/0")
			.hasMessageContaining(error.getMessage())
			.hasMessageNotContaining("does not reply");
		assertThat(failure.mayHaveBeenAppended()).isTrue();
	}

	static List<RuntimeException> recordOfAnErrorThatMayComeAfterAppendingMayHaveBeenAppended() {
		return List.of(new UnknownServerException("The server experienced an unexpected error"),
				new OutOfOrderSequenceException("The broker received an out of order sequence number"),
				new NotEnoughReplicasAfterAppendException("Messages are written to the log, but to fewer replicas"),
				new ApiException("of a later version"));
	}

	@Test
	void refusalOfARecordThatMayHaveBeenSentTwiceSaysNothingOfTheFirstTime() throws Exception {
		MetricName name = new MetricName("record-retry-total", "producer-metrics", "", Map.of());
		double[] repetitions = { 7 };
		MockProducer<byte[], byte[]> producer = new MockProducer<>(false, null, new ByteArraySerializer(),
				new ByteArraySerializer());
		producer.setMockMetrics(name, new Metric() {

			@Override
			public MetricName metricName() {
				return name;
			}

			@Override
			public Object metricValue() {
				return repetitions[0];
			}

		});
		CompletableFuture<Offset> before = append(producer);
		assertThat(failureOfTheSenderThread(producer, before, new TopicAuthorizationException("denied"))
			.mayHaveBeenAppended()).isFalse();

		CompletableFuture<Offset> after = append(producer);
		repetitions[0] = 8;
		assertThat(failureOfTheSenderThread(producer, after, new TopicAuthorizationException("denied"))
			.mayHaveBeenAppended()).isTrue();
	}

	@Test
	void recordThatWasNotQueuedWasNotAppended() {
		MockProducer<byte[], byte[]> producer = new MockProducer<>(false, null, new ByteArraySerializer(),
				new ByteArraySerializer()) {

			@Override
			public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> each, Callback callback) {
				TimeoutException timeout = new TimeoutException("Topic orders not present in metadata after 10 ms.");
				callback.onCompletion(null, timeout);
				return CompletableFuture.failedFuture(timeout);
			}

		};
		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> append(producer))
			.withMessageContaining("Not sent to orders/0")
			.satisfies((failure) -> assertThat(failure.mayHaveBeenAppended()).isFalse());
	}

	@Test
	void refusalThatTheProducerHasHeardBeforeItIsGivenTheRecordSaysWhatIsRefused() {
		MockProducer<byte[], byte[]> producer = new MockProducer<>(false, null, new ByteArraySerializer(),
				new ByteArraySerializer());
		producer.sendException = new KafkaException(
				"Cannot execute transactional method because we are in an error state",
				new ClusterAuthorizationException("Cluster authorization failed."));
		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> append(producer))
			.withMessageContaining("denies the access (Cluster authorization failed.)")
			.satisfies((failure) -> assertThat(failure.mayHaveBeenAppended()).isFalse());
	}

	@Test
	void leaderOfAPartitionIsAskedBeforeItsFirstRecord() {
		MockProducer<byte[], byte[]> producer = new MockProducer<>(true, null, new ByteArraySerializer(),
				new ByteArraySerializer());
		List<Integer> sentBefore = new ArrayList<>();
		FirstSendCheck check = new FirstSendCheck(() -> {
			sentBefore.add(producer.history().size());
			return this.admin.client();
		}, Duration.ofSeconds(2));
		KafkaAppender appender = new KafkaAppender(() -> producer, KafkaClientListener.NONE, this.directory, check,
				this.failures, this.throttling, 1_000_000);
		NewRecord newRecord = new NewRecord(SHARD, null, new byte[] { 1 });
		appender.append(List.of(newRecord, newRecord));
		appender.append(List.of(newRecord));

		assertThat(sentBefore).containsExactly(0);
		assertThat(producer.history()).hasSize(3);
	}

	private SendFailedException failureOfTheSenderThread(RuntimeException failure) throws Exception {
		MockProducer<byte[], byte[]> producer = new MockProducer<>(false, null, new ByteArraySerializer(),
				new ByteArraySerializer());
		return failureOfTheSenderThread(producer, append(producer), failure);
	}

	private static SendFailedException failureOfTheSenderThread(MockProducer<byte[], byte[]> producer,
			CompletableFuture<Offset> offset, RuntimeException failure) throws Exception {
		Thread sender = new Thread(() -> producer.errorNext(failure));
		sender.start();
		sender.join();
		return (SendFailedException) catchThrowable(offset::join).getCause();
	}

	private CompletableFuture<Offset> append(MockProducer<byte[], byte[]> producer) {
		KafkaAppender appender = new KafkaAppender(() -> producer, KafkaClientListener.NONE, this.directory,
				new FirstSendCheck(this.admin::client, Duration.ofSeconds(2)), this.failures, this.throttling,
				1_000_000);
		return appender.append(List.of(new NewRecord(SHARD, null, new byte[] { 1 }))).get(0);
	}

}
