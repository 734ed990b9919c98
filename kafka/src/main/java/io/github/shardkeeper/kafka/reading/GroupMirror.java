package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsResult;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.HeldPositions;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Sets the offsets of a Kafka group to those of the checkpoints of the shards that are
 * held. {@link HeldPositions} decides whose, and when; what is due is one request, on the
 * source's thread. Nothing reads them here. Thread-safe.
 */
public final class GroupMirror {

	/**
	 * Interval at which owners set all offsets. Brokers keep them for 7 days by default
	 * ({@code offsets.retention.minutes}).
	 */
	public static final Duration INTERVAL = Duration.ofMinutes(1);

	/** Time between an acquisition or a commit and the write of its offset. */
	static final Duration DELAY = Duration.ofSeconds(1);

	private static final Logger logger = PrintableLogger.of(GroupMirror.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(5);

	private final String group;

	private final KafkaAdmin admin;

	private final ScheduledExecutorService executor;

	private final MonotonicClock clock;

	private final HeldPositions<Mirrored> positions;

	private final AtomicBoolean started = new AtomicBoolean();

	/**
	 * {@code null} unless the last request has failed; guarded by this, like the next.
	 */
	private @Nullable MonotonicTime pausedUntil;

	private final ProblemLog log = new ProblemLog();

	public GroupMirror(String group, KafkaAdmin admin, ScheduledExecutorService executor, Duration interval,
			MonotonicClock clock) {
		this.group = group;
		this.admin = admin;
		this.executor = executor;
		this.clock = clock;
		this.positions = new HeldPositions<>(DELAY, interval);
	}

	/**
	 * Notes that a shard is read from a position on, {@code null} for its beginning. Does
	 * not wait, like the other methods.
	 */
	void started(ShardId shard, TopicPartition partition, @Nullable OffsetAndMetadata next, RecordSink owner) {
		this.positions.started(shard, (next != null) ? new Mirrored(partition, next) : null, owner::isOwned,
				this.clock.now());
		if (this.started.compareAndSet(false, true)) {
			submit(() -> this.executor.scheduleWithFixedDelay(this::send, DELAY.toMillis(), DELAY.toMillis(),
					TimeUnit.MILLISECONDS));
		}
	}

	/** Notes that a shard is not read any more. A last commit may follow. */
	void stopped(ShardId shard) {
		sendIf(this.positions.stopped(shard, this.clock.now()));
	}

	/** Notes a commit of an owner. The last one of a shard is written at once. */
	void committed(ShardId shard, TopicPartition partition, OffsetAndMetadata next) {
		sendIf(this.positions.committed(shard, new Mirrored(partition, next), this.clock.now()));
	}

	private void sendIf(boolean due) {
		if (due) {
			submit(() -> this.executor.execute(this::send));
		}
	}

	private static void submit(Runnable submission) {
		try {
			submission.run();
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The source is closed", ex);
		}
	}

	private synchronized void send() {
		MonotonicTime paused = this.pausedUntil;
		if (paused == null || !this.clock.now().isBefore(paused)) {
			sendNow();
		}
	}

	/**
	 * Sends what is due. One call at a time: the last one also sends what an interrupted
	 * one has left.
	 */
	public synchronized void sendNow() {
		MonotonicTime now = this.clock.now();
		Map<TopicPartition, HeldPositions.Due<Mirrored>> due = new HashMap<>();
		Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
		for (HeldPositions.Due<Mirrored> next = this.positions.next(now); next != null; next = this.positions
			.next(now)) {
			due.put(next.position().partition(), next);
			offsets.put(next.position().partition(), next.position().next());
		}
		if (due.isEmpty()) {
			return;
		}
		try {
			AlterConsumerGroupOffsetsResult result = this.admin.client()
				.alterConsumerGroupOffsets(this.group, offsets,
						KafkaAdmin.limited(new AlterConsumerGroupOffsetsOptions()));
			due.keySet().removeIf((partition) -> isSet(result.partitionResult(partition)));
			if (due.isEmpty() && this.log.resolved()) {
				logger.info("The offsets of the Kafka group '{}' can be set again", this.group);
			}
		}
		catch (RuntimeException ex) {
			// A periodic task that throws would not run again.
			report(ex);
		}
		due.values().forEach((failed) -> this.positions.failed(failed, now));
		this.pausedUntil = due.isEmpty() ? null : this.clock.now().plus(PAUSE_AFTER_FAILURE);
	}

	/** A partition that does not exist has no offset to set. */
	private boolean isSet(KafkaFuture<Void> result) {
		try {
			this.admin.await(result, "cannot set the offsets of the Kafka group '%s' ('shardkeeper.kafka.mirror-group')"
				.formatted(this.group));
			return true;
		}
		catch (StoreUnavailableException ex) {
			report(ex);
			return KafkaFailure.isMissing(ex.getCause());
		}
	}

	private void report(RuntimeException failure) {
		if (!this.executor.isShutdown() && this.log.isNew(String.valueOf(failure.getMessage()))) {
			logger.warn("{}; retrying. A group that has members does not accept them. Checkpoints are not affected",
					failure.getMessage());
		}
	}

	/**
	 * The next offset to read from a partition. Immutable.
	 *
	 * @param partition the partition
	 * @param next the offset, with its epoch
	 */
	private record Mirrored(TopicPartition partition, OffsetAndMetadata next) {

	}

}
