package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.NumericOffsets;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reading progress of one shard since its start. Confined to the polling thread, except
 * where a method says otherwise.
 */
final class ReadPosition {

	private static final byte[] EMPTY = new byte[0];

	private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

	private static final Duration LAST_RETRY = Duration.ofSeconds(30);

	private final ShardId shard;

	private final TopicPartition partition;

	private final RecordSink sink;

	private final long directoryNumber;

	/** Guarded by this. */
	private boolean stopped;

	private volatile @Nullable String problem;

	private long next;

	/**
	 * Last offset of which the worker knows: where it has begun, of a record or of a
	 * move.
	 */
	private long known;

	/** Last offset that is committed. Thread-safe. */
	private volatile long committed;

	/** Whether there were records since the last check for a gap. */
	private boolean active;

	private boolean paused;

	/** Whether it is among the partitions of the consumer. */
	private boolean assigned;

	/** Whether it is not read until it is started again. */
	private boolean halted;

	private @Nullable Uuid topicId;

	/** Refresh of the directory that tells the id of the topic. */
	private @Nullable Future<?> refresh;

	private @Nullable MonotonicTime retryAt;

	private Duration retryDelay = FIRST_RETRY;

	private @Nullable MonotonicTime lastFailure;

	/** Creates a position; {@code after} is the last offset to skip. */
	ReadPosition(ShardId shard, TopicPartition partition, long after, RecordSink sink, long directoryNumber) {
		this.shard = shard;
		this.partition = partition;
		this.next = after + 1;
		this.known = after;
		this.committed = after;
		this.sink = sink;
		this.directoryNumber = directoryNumber;
	}

	/** Returns the number of refreshes of the directory before it was started. */
	long directoryNumber() {
		return this.directoryNumber;
	}

	ShardId shard() {
		return this.shard;
	}

	TopicPartition partition() {
		return this.partition;
	}

	/** Waits for a delivery that is under way; there is none afterwards. Thread-safe. */
	synchronized void stop() {
		this.stopped = true;
	}

	/** Offers records to the sink, and advances only if it takes them. */
	void offer(List<ConsumerRecord<String, byte[]>> read) {
		List<SourceRecord> records = new ArrayList<>(read.size());
		for (ConsumerRecord<String, byte[]> each : read) {
			records.add(convert(each));
		}
		boolean room;
		synchronized (this) {
			room = this.stopped || this.sink.offer(records);
		}
		this.known = read.get(read.size() - 1).offset();
		this.next = this.known + 1;
		this.active = true;
		this.paused = !room;
		this.retryDelay = FIRST_RETRY;
	}

	private static SourceRecord convert(ConsumerRecord<String, byte[]> each) {
		byte[] value = each.value();
		return new SourceRecord(NumericOffsets.of(each.offset()), each.key(), (value != null) ? value : EMPTY,
				RecordText.headers(each.headers(), value == null), each.timestamp());
	}

	/** Returns the next offset to read; 0 if all records are to be read. */
	long next() {
		return this.next;
	}

	/** Returns whether reading begins at the first record that exists. */
	boolean isAtBeginning() {
		return this.next == 0;
	}

	/** Starts reading at an offset, which is the first record that exists. */
	void begin(long offset) {
		this.next = offset;
		this.known = offset - 1;
		this.committed = this.known;
	}

	/** Notes that the consumer has found no record before an offset. */
	void skipTo(long offset) {
		this.next = Math.max(this.next, offset);
	}

	/** Notes the offset of a checkpoint. Thread-safe. */
	void committed(long offset) {
		this.committed = offset;
	}

	/**
	 * Moves the worker of an idle shard over the offsets without records that follow its
	 * checkpoint, such as the marker of a transaction. Kafka removes them after the
	 * retention time like records, and then the checkpoint would seem to be before
	 * records that are lost. Only if the checkpoint is that of the last record: the
	 * worker takes up no other record before it has moved.
	 */
	void moveOverGap() {
		boolean idle = !this.active;
		this.active = false;
		long last = this.next - 1;
		if (!idle || last <= this.known || this.committed != this.known) {
			return;
		}
		synchronized (this) {
			if (!this.stopped) {
				this.sink.movedTo(NumericOffsets.of(last), false);
			}
		}
		this.known = last;
	}

	/** Moves reading to an offset because the next record does not exist any more. */
	void reset(long offset, boolean offsetsReused) {
		synchronized (this) {
			if (!this.stopped) {
				this.sink.movedTo(NumericOffsets.of(offset - 1), offsetsReused);
			}
		}
		this.next = offset;
		this.known = offset - 1;
	}

	boolean isPaused() {
		return this.paused;
	}

	boolean resume() {
		boolean wasPaused = this.paused;
		this.paused = false;
		return wasPaused;
	}

	boolean isAssigned() {
		return this.assigned;
	}

	void setAssigned(boolean assigned) {
		this.assigned = assigned;
	}

	/** Returns why it cannot be read, {@code null} if it can. Thread-safe. */
	@Nullable String problem() {
		return this.problem;
	}

	void halt(String reason) {
		this.problem = reason;
		this.halted = true;
	}

	/**
	 * Stops reading it for a while, twice as long each time; returns whether to log it.
	 * After a long time without a failure, it begins with the shortest time again.
	 */
	boolean retryLater(String reason, MonotonicTime now) {
		if (this.lastFailure != null && this.lastFailure.until(now).compareTo(LAST_RETRY.multipliedBy(2)) > 0) {
			this.retryDelay = FIRST_RETRY;
		}
		this.lastFailure = now;
		boolean first = this.retryDelay == FIRST_RETRY;
		this.problem = reason;
		this.retryAt = now.plus(this.retryDelay);
		Duration doubled = this.retryDelay.multipliedBy(2);
		this.retryDelay = (doubled.compareTo(LAST_RETRY) < 0) ? doubled : LAST_RETRY;
		return first;
	}

	@Nullable MonotonicTime retryAt() {
		return this.halted ? null : this.retryAt;
	}

	/** Returns whether neither a reset nor a failure prevents reading. */
	boolean isDue(MonotonicTime now) {
		if (this.halted) {
			return false;
		}
		MonotonicTime at = this.retryAt;
		if (at == null) {
			return true;
		}
		if (now.isBefore(at)) {
			return false;
		}
		this.retryAt = null;
		this.problem = null;
		return true;
	}

	/** Returns whether the topic is another one than before. */
	boolean isOfAnotherTopic(Uuid current) {
		Uuid known = this.topicId;
		return known != null && !known.equals(current);
	}

	/** Notes which topic is read, unless a refresh is awaited to know that. */
	void setTopicId(Uuid current) {
		Future<?> awaited = this.refresh;
		if (awaited == null || awaited.isDone()) {
			this.topicId = current;
			this.refresh = null;
		}
	}

	/** Forgets which topic is read until a refresh tells it. */
	void forgetTopicId(Future<?> until) {
		this.topicId = null;
		this.refresh = until;
	}

}
