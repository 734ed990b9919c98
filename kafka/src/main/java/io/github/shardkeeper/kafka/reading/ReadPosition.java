package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.kafka.record.RecordText;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.NumericOffsets;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.Backoff;
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
	 * Epoch of the leader that wrote the record before the next one, {@code null} if it
	 * is not known.
	 */
	private @Nullable Integer epoch;

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

	/** Id of the topic that it is of, {@code null} if it is not known. */
	private @Nullable Uuid topicId;

	/** Why reading cannot go on here, {@code null} if it can. */
	private @Nullable Invalidity invalidity;

	/** Whether the checkpoint was compared with the end of the log. */
	private Verification verification;

	/** Whether the client is told the epoch. */
	private boolean tellsEpoch = true;

	/** Refresh of the directory that shows whether the topic is another one. */
	private @Nullable Future<?> refresh;

	private @Nullable MonotonicTime retryAt;

	private final Backoff backoff = new Backoff(FIRST_RETRY, LAST_RETRY);

	private @Nullable MonotonicTime lastFailure;

	/** Creates a position after the one of a checkpoint. */
	ReadPosition(ShardId shard, TopicPartition partition, KafkaOffset after, RecordSink sink, long directoryNumber) {
		this.shard = shard;
		this.partition = partition;
		this.next = after.last() + 1;
		this.epoch = after.epoch();
		this.topicId = after.topicId();
		this.verification = (this.epoch != null) ? Verification.WANTED : Verification.DONE;
		this.known = after.last();
		this.committed = after.last();
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
		Integer written = this.epoch;
		String suffix = KafkaOffset.suffix(written, this.topicId);
		for (ConsumerRecord<String, byte[]> each : read) {
			Integer own = each.leaderEpoch().orElse(null);
			if (!Objects.equals(own, written)) {
				written = own;
				suffix = KafkaOffset.suffix(written, this.topicId);
			}
			records.add(convert(each, written, suffix));
		}
		boolean room;
		synchronized (this) {
			room = this.stopped || this.sink.offer(records);
		}
		this.known = read.get(read.size() - 1).offset();
		this.next = this.known + 1;
		this.epoch = written;
		this.tellsEpoch = true;
		this.active = true;
		this.paused = !room;
		this.backoff.reset();
	}

	/** After a loss of records, another one has the same offset, under another epoch. */
	private static SourceRecord convert(ConsumerRecord<String, byte[]> each, @Nullable Integer epoch, String suffix) {
		byte[] value = each.value();
		Offset offset = NumericOffsets.of(each.offset());
		Offset identity = (epoch != null) ? new Offset(offset.value() + KafkaOffset.suffix(epoch, null)) : offset;
		return new SourceRecord(offset, each.key(), (value != null) ? value : EMPTY,
				RecordText.headers(each.headers(), value == null), each.timestamp(), identity,
				new Offset(offset.value() + suffix));
	}

	/** Returns the next offset to read; 0 if all records are to be read. */
	long next() {
		return this.next;
	}

	/** Returns where the consumer has to go on. */
	OffsetAndMetadata resumeAt() {
		return this.tellsEpoch ? at(this.next).next() : new OffsetAndMetadata(this.next);
	}

	/** Returns the position before an offset. */
	private KafkaOffset at(long offset) {
		return new KafkaOffset(offset - 1, this.epoch, this.topicId);
	}

	/** Returns whether reading begins at the first record that exists. */
	boolean isAtBeginning() {
		return this.next == 0;
	}

	/** Starts reading at an offset, which is the first record that exists. */
	void begin(long offset) {
		this.invalidity = null;
		this.verification = Verification.DONE;
		this.epoch = null;
		this.tellsEpoch = true;
		this.next = offset;
		this.known = offset - 1;
		this.committed = this.known;
	}

	/** Notes that the consumer has found no record before an offset. */
	void skipTo(OffsetAndMetadata found) {
		if (found.offset() > this.next) {
			this.next = found.offset();
			this.epoch = found.leaderEpoch().orElse(this.epoch);
		}
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
				this.sink.movedTo(at(this.next).toOffset(), false);
			}
		}
		this.known = last;
	}

	/** Moves reading to an offset because the next record does not exist any more. */
	void reset(OffsetAndMetadata to, boolean offsetsReused) {
		this.invalidity = null;
		this.verification = Verification.DONE;
		this.tellsEpoch = true;
		this.next = to.offset();
		this.epoch = to.leaderEpoch().orElse(null);
		this.known = this.next - 1;
		synchronized (this) {
			if (!this.stopped) {
				this.sink.movedTo(at(this.next).toOffset(), offsetsReused);
			}
		}
	}

	Verification verification() {
		return this.verification;
	}

	/** Notes that the leader was asked for the end of the log. */
	void verify() {
		this.verification = Verification.UNDER_WAY;
	}

	/**
	 * Notes that there was no reply, and that the leader is asked again soon; returns
	 * whether to log it.
	 */
	boolean notVerified(String reason, MonotonicTime now) {
		boolean first = this.problem == null;
		this.verification = Verification.WANTED;
		this.problem = reason;
		this.retryAt = now.plus(FIRST_RETRY);
		return first;
	}

	/**
	 * Compares the checkpoint with the end of the log. If the leader still has the epoch
	 * of the checkpoint, it has all records up to its end, and the client need not ask,
	 * which would take it as long as the fetch under way. It must not be told a higher
	 * epoch than that of the leader: it would take the leader's for outdated, and wait
	 * for ever for one as high.
	 */
	void verified(ListOffsetsResultInfo end) {
		this.verification = Verification.DONE;
		this.problem = null;
		Integer leaderEpoch = end.leaderEpoch().orElse(null);
		if (leaderEpoch == null || this.epoch == null) {
			return;
		}
		this.tellsEpoch = leaderEpoch > this.epoch || this.next > end.offset();
		if (leaderEpoch < this.epoch) {
			invalidate(new Invalidity(
					"it was written under the leader epoch %d, and the leader has the epoch %d, so the brokers have lost it"
						.formatted(this.epoch, leaderEpoch),
					null));
		}
	}

	/**
	 * Returns once whether the client has to be told the epoch now, because no record has
	 * told it: without one, it does not ask a new leader.
	 */
	boolean mustTellEpoch() {
		boolean untold = !this.tellsEpoch;
		this.tellsEpoch = true;
		return untold;
	}

	/** Notes that the next record cannot be read, and why. */
	void invalidate(Invalidity reason) {
		this.invalidity = reason;
	}

	/** Returns why reading cannot go on here, {@code null} if it can. */
	@Nullable Invalidity invalidity() {
		return this.invalidity;
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
			this.backoff.reset();
		}
		this.lastFailure = now;
		// What it has told may be outdated by then.
		this.refresh = null;
		this.problem = reason;
		Duration delay = this.backoff.next();
		this.retryAt = now.plus(delay);
		return delay.equals(FIRST_RETRY);
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
		if (this.verification == Verification.DONE) {
			this.problem = null;
		}
		return true;
	}

	/** Returns whether the topic is another one than that of the position. */
	boolean isOfAnotherTopic(Uuid current) {
		return this.topicId != null && KafkaOffset.known(current) != null && !this.topicId.equals(current);
	}

	/** Notes of which topic the position is. */
	void setTopicId(Uuid current) {
		this.topicId = KafkaOffset.known(current);
		this.refresh = null;
	}

	/** Returns the id of the topic that it is of, {@code null} if it is not known. */
	@Nullable Uuid topicId() {
		return this.topicId;
	}

	/** Waits with reading until a refresh tells which topic there is now. */
	void awaitTopic(Future<?> until) {
		this.refresh = until;
	}

	/** Returns whether it waits for a refresh, or for the next one that succeeds. */
	boolean isAwaitingTopic() {
		return this.refresh != null;
	}

	/** Returns whether the refresh has ended that it waits for. */
	boolean hasAwaitedTopic() {
		return this.refresh != null && this.refresh.isDone();
	}

	/** Whether a checkpoint was compared with the end of the log. */
	enum Verification {

		WANTED, UNDER_WAY, DONE

	}

	/**
	 * A reason for which the next record cannot be read.
	 *
	 * @param reason the reason, in words
	 * @param divergence where the log of the partition has begun to differ from what was
	 * read; {@code null} if that is not known
	 */
	record Invalidity(String reason, @Nullable OffsetAndMetadata divergence) {

	}

}
