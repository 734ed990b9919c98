package io.github.shardkeeper.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.kafka.client.ClientMetric;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.Throttling;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.kafka.record.RecordText;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.NumericOffsets;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Sends with one producer, which is created when it is first used. Thread-safe.
 */
final class KafkaAppender implements AutoCloseable {

	/** Size of a batch with one record beyond key, payload and headers. */
	private static final int OVERHEAD = 100;

	private static final int HEADER_OVERHEAD = 10;

	/** UTF-8 needs at most three bytes for a character. */
	private static final int MOST_BYTES = 3;

	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

	private final Supplier<Producer<byte[], byte[]>> producers;

	private final KafkaClientListener listener;

	private final TopicDirectory directory;

	private final FirstSendCheck leaders;

	private final KafkaFailure failures;

	private final Throttling throttling;

	private final long maxRequestSize;

	private final MonotonicClock clock = MonotonicClock.SYSTEM;

	/** The number of records that the producer has sent again. */
	private volatile ClientMetric repetitions = ClientMetric.NONE;

	/** Guarded by this, like the next field. */
	private @Nullable Producer<byte[], byte[]> producer;

	private boolean closed;

	KafkaAppender(Supplier<Producer<byte[], byte[]>> producers, KafkaClientListener listener, TopicDirectory directory,
			FirstSendCheck leaders, KafkaFailure failures, Throttling throttling, long maxRequestSize) {
		this.producers = producers;
		this.listener = listener;
		this.throttling = throttling;
		this.directory = directory;
		this.leaders = leaders;
		this.failures = failures;
		this.maxRequestSize = maxRequestSize;
	}

	void check(NewRecord newRecord) {
		RecordFields.check(newRecord.headers());
		if (newRecord.id() != null) {
			throw new IllegalArgumentException(
					"A record for %s has an id, but Kafka recognizes only what its producer repeats by itself "
						.formatted(newRecord.shard())
							+ "('enable.idempotence'), not records that are sent again: send it without withId(…)");
		}
		if (this.directory.isPattern(newRecord.shard().topic())) {
			throw new IllegalArgumentException(
					"The topic '%s' reads all Kafka topics that match a pattern; send to a topic that has a single one"
						.formatted(newRecord.shard().topic()));
		}
		if (this.directory.partition(newRecord.shard()) == null) {
			throw new IllegalArgumentException("%s is no partition of a Kafka topic".formatted(newRecord.shard()));
		}
		if (RecordText.isTombstone(newRecord.headers()) && newRecord.payload().length > 0) {
			throw new IllegalArgumentException(
					"A record for %s has the header '%s', which stands for a record without a value, and a payload of %d bytes: remove one of them"
						.formatted(newRecord.shard(), RecordText.TOMBSTONE, newRecord.payload().length));
		}
		if (largest(newRecord) > this.maxRequestSize && size(newRecord) > this.maxRequestSize) {
			throw new IllegalArgumentException(
					"A record of %d bytes is larger than 'max.request.size' of the producer, %d bytes: send less, or raise "
						.formatted(size(newRecord), this.maxRequestSize)
							+ "'spring.kafka.producer.properties[max.request.size]' and 'max.message.bytes' of the topic");
		}
	}

	private static long largest(NewRecord newRecord) {
		String key = newRecord.key();
		long size = OVERHEAD + newRecord.payload().length;
		size += (key != null) ? (long) key.length() * MOST_BYTES : 0;
		for (Map.Entry<String, String> header : newRecord.headers().entrySet()) {
			size += HEADER_OVERHEAD + (long) (header.getKey().length() + header.getValue().length()) * MOST_BYTES;
		}
		return size;
	}

	private static long size(NewRecord newRecord) {
		String key = newRecord.key();
		long size = OVERHEAD + newRecord.payload().length;
		size += (key != null) ? bytes(key).length : 0;
		for (Map.Entry<String, String> header : newRecord.headers().entrySet()) {
			size += HEADER_OVERHEAD + bytes(header.getKey()).length + bytes(header.getValue()).length;
		}
		return size;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		records.forEach(this::check);
		Producer<byte[], byte[]> current = open();
		this.throttling.check(this.clock.now());
		double repeated = this.repetitions.value();
		List<CompletableFuture<Offset>> offsets = new ArrayList<>(records.size());
		SendFailedException first = null;
		int sent = 0;
		for (NewRecord newRecord : records) {
			if (first != null) {
				// Each would wait as long, and must not overtake the one before.
				offsets.add(CompletableFuture.failedFuture(new SendFailedException(
						"Not sent, because a record before it could not be sent. " + first.getMessage(), first,
						false)));
				continue;
			}
			CompletableFuture<Offset> offset = new CompletableFuture<>();
			first = send(current, newRecord, repeated, offset);
			sent += (first == null) ? 1 : 0;
			offsets.add(offset);
		}
		if (first != null && sent == 0) {
			throw first;
		}
		return offsets;
	}

	/** Returns why it was not sent, {@code null} if it was. */
	private @Nullable SendFailedException send(Producer<byte[], byte[]> current, NewRecord newRecord, double repeated,
			CompletableFuture<Offset> offset) {
		ShardId shard = newRecord.shard();
		SendFailedException failure = null;
		try {
			TopicPartition partition = existing(shard);
			Thread caller = Thread.currentThread();
			current.send(record(newRecord, partition), (metadata, exception) -> {
				if (exception == null) {
					offset.complete(NumericOffsets.of(metadata.offset()));
				}
				else {
					// The producer calls back on the caller's thread only if it has not
					// queued
					// the record.
					boolean queued = Thread.currentThread() != caller;
					offset.completeExceptionally(
							failure(shard, exception, queued && mayHaveBeenAppended(exception, repeated)));
				}
			});
			// The future of a record that was not even queued has failed already.
			if (offset.isCompletedExceptionally()
					&& offset.handle((sent, exception) -> exception).getNow(null) instanceof SendFailedException failed
					&& !failed.mayHaveBeenAppended()) {
				failure = failed;
			}
		}
		catch (InterruptException ex) {
			failure = new SendFailedException("Not sent to %s: interrupted".formatted(shard), ex, false);
		}
		catch (KafkaException | IllegalStateException ex) {
			failure = failure(shard, ex, false);
		}
		catch (SendFailedException ex) {
			failure = ex;
		}
		if (failure != null) {
			offset.completeExceptionally(failure);
		}
		return failure;
	}

	/** A producer would wait for, or even create, a partition that does not exist. */
	private TopicPartition existing(ShardId shard) {
		TopicPartition partition = this.directory.partition(shard);
		Described topic = (partition != null) ? topicWith(partition) : null;
		if (partition != null && topic == null) {
			this.directory.awaitRefreshUnlessFailing();
			topic = topicWith(partition);
		}
		if (partition == null || topic == null) {
			throw missing(shard, (partition != null) ? partition.topic() : shard.topic());
		}
		this.leaders.await(partition, topic);
		return partition;
	}

	/** Returns the topic of a partition, {@code null} if it has no such partition. */
	private @Nullable Described topicWith(TopicPartition partition) {
		Described described = this.directory.described(partition.topic());
		return (described != null && partition.partition() < described.partitions()) ? described : null;
	}

	private SendFailedException missing(ShardId shard, String topic) {
		Described described = this.directory.described(topic);
		String refusal = this.directory.refusal(topic);
		RuntimeException failure = this.directory.failure();
		String reason = (described != null)
				? "The Kafka topic '%s' has %d partitions".formatted(topic, described.partitions())
				: (refusal != null) ? refusal : (failure != null) ? String.valueOf(failure.getMessage())
						: "Nothing is known yet of the Kafka topic '%s'".formatted(topic);
		return new SendFailedException("Not sent to %s. %s".formatted(shard, reason), failure, false);
	}

	private static ProducerRecord<byte[], byte[]> record(NewRecord newRecord, TopicPartition partition) {
		String key = newRecord.key();
		ProducerRecord<byte[], byte[]> created = new ProducerRecord<>(partition.topic(), partition.partition(),
				(key != null) ? bytes(key) : null,
				RecordText.isTombstone(newRecord.headers()) ? null : newRecord.payload());
		RecordText.addTo(created.headers(), newRecord.headers());
		return created;
	}

	/**
	 * Returns whether the reply to a queued record leaves it open that it was appended. A
	 * refusal of the first request does not. The producer does not tell which records it
	 * has sent again, only how many.
	 * @param repeated how many there were when the record was queued
	 */
	private boolean mayHaveBeenAppended(Exception exception, double repeated) {
		return !KafkaFailure.isRefusedRecord(exception) || this.repetitions.value() > repeated;
	}

	private SendFailedException failure(ShardId shard, Exception exception, boolean mayHaveBeenAppended) {
		String throttled = null;
		if (exception instanceof TimeoutException) {
			this.throttling.check(this.clock.now());
			throttled = this.throttling.problem();
		}
		return new SendFailedException(
				"%s %s. %s".formatted(mayHaveBeenAppended ? "No acknowledgement from" : "Not sent to", shard,
						(throttled != null) ? "%s (%s)".formatted(throttled, exception.getMessage())
								: "Kafka: " + this.failures.message(exception)),
				exception, mayHaveBeenAppended);
	}

	private synchronized Producer<byte[], byte[]> open() {
		if (this.closed) {
			throw new SendFailedException("Not sent: the source was closed with its application context", null, false);
		}
		Producer<byte[], byte[]> current = this.producer;
		if (current == null) {
			try {
				current = this.producers.get();
			}
			catch (KafkaException ex) {
				throw new SendFailedException("Not sent. Kafka: " + this.failures.message(ex), ex, false);
			}
			this.producer = current;
			this.listener.opened(current);
			this.throttling.opened(current.metrics());
			this.repetitions = ClientMetric.of(current.metrics(), "record-retry-total", "topic");
		}
		return current;
	}

	/** Waits a few seconds for the replies that are missing. */
	@Override
	public void close() {
		Producer<byte[], byte[]> current;
		synchronized (this) {
			this.closed = true;
			current = this.producer;
		}
		if (current != null) {
			this.listener.closed(current);
			current.close(CLOSE_TIMEOUT);
		}
	}

}
