package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Sets the offsets of a Kafka group to those of the checkpoints: when a shard is
 * acquired, about a second after a commit, at its release, and of all shards at an
 * interval, because brokers remove offsets that nobody sets. Nothing reads them here.
 * <p>
 * Kafka does not fence these writes. So only the owner of a shard writes, and what a
 * former owner may have written at the moment when it lost the shard is replaced at the
 * next interval. Thread-safe.
 */
final class GroupMirror {

	/**
	 * Interval at which owners set all offsets. Brokers keep them for 7 days by default
	 * ({@code offsets.retention.minutes}).
	 */
	static final Duration INTERVAL = Duration.ofMinutes(1);

	private static final Logger logger = PrintableLogger.of(GroupMirror.class);

	private static final long DELAY_MILLIS = 1000;

	private static final long DELAY_AFTER_FAILURE_MILLIS = 5000;

	/** Time after the last commit of a shard in which its former owner may write it. */
	private static final Duration LAST_WRITE_LIMIT = Duration.ofSeconds(3);

	private final String group;

	private final KafkaAdmin admin;

	private final ScheduledExecutorService executor;

	private final Duration interval;

	private final MonotonicClock clock;

	private final Map<ShardId, Mirrored> shards = new ConcurrentHashMap<>();

	private final AtomicBoolean scheduled = new AtomicBoolean();

	private final AtomicBoolean periodic = new AtomicBoolean();

	/** Guarded by this. */
	private final ProblemLog log = new ProblemLog();

	GroupMirror(String group, KafkaAdmin admin, ScheduledExecutorService executor, Duration interval,
			MonotonicClock clock) {
		this.group = group;
		this.admin = admin;
		this.executor = executor;
		this.interval = interval;
		this.clock = clock;
	}

	/**
	 * Notes that a shard is read from a position on, {@code null} for its beginning. Does
	 * not wait, like the other methods.
	 */
	void started(ShardId shard, TopicPartition partition, @Nullable OffsetAndMetadata next, RecordSink owner) {
		this.shards.put(shard, new Mirrored(partition, owner, true, next, next != null, this.clock.now()));
		if (next != null) {
			schedule(DELAY_MILLIS);
		}
		if (this.periodic.compareAndSet(false, true)) {
			submit(() -> this.executor.scheduleWithFixedDelay(this::renew, this.interval.toMillis(),
					this.interval.toMillis(), TimeUnit.MILLISECONDS));
		}
	}

	/** Notes that a shard is not read any more. A last commit may follow. */
	void stopped(ShardId shard) {
		this.shards.computeIfPresent(shard, (id, mirrored) -> mirrored.released());
	}

	/** Notes a commit of an owner. The last one of a shard is written at once. */
	void committed(ShardId shard, TopicPartition partition, OffsetAndMetadata next) {
		MonotonicTime now = this.clock.now();
		Mirrored noted = this.shards.compute(shard, (id, known) -> (known == null)
				? new Mirrored(partition, null, true, next, true, now) : known.isOwned() ? known.at(next, now) : known);
		if (noted.owner() != null) {
			schedule(DELAY_MILLIS);
		}
		else if (noted.due()) {
			submit(() -> this.executor.execute(this::send));
		}
	}

	private void schedule(long millis) {
		if (this.scheduled.compareAndSet(false, true)) {
			submit(() -> this.executor.schedule(this::send, millis, TimeUnit.MILLISECONDS));
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

	private void renew() {
		this.shards.replaceAll((shard, mirrored) -> (mirrored.owner() != null) ? mirrored.renewed() : mirrored);
		send();
	}

	private void send() {
		this.scheduled.set(false);
		if (!sendNow()) {
			schedule(DELAY_AFTER_FAILURE_MILLIS);
		}
	}

	/**
	 * Sends what is due; returns whether Kafka has taken it. One call at a time: the last
	 * one also sends what an interrupted one has left.
	 */
	synchronized boolean sendNow() {
		Map<ShardId, Mirrored> due = new HashMap<>();
		Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
		MonotonicTime now = this.clock.now();
		this.shards.forEach((shard, mirrored) -> {
			OffsetAndMetadata next = mirrored.next();
			if (mirrored.due() && next != null && mirrored.mayBeWritten(now)) {
				due.put(shard, mirrored);
				offsets.put(mirrored.partition(), next);
			}
		});
		if (due.isEmpty()) {
			return true;
		}
		try {
			AlterConsumerGroupOffsetsResult result = this.admin.client()
				.alterConsumerGroupOffsets(this.group, offsets,
						KafkaAdmin.limited(new AlterConsumerGroupOffsetsOptions()));
			due.entrySet().removeIf((entry) -> {
				boolean set = isSet(result.partitionResult(entry.getValue().partition()));
				if (set) {
					// Unless there is a newer one meanwhile.
					this.shards.replace(entry.getKey(), entry.getValue(), entry.getValue().written());
				}
				return set;
			});
			if (due.isEmpty() && this.log.resolved()) {
				logger.info("The offsets of the Kafka group '{}' can be set again", this.group);
			}
		}
		catch (RuntimeException ex) {
			// A periodic task that throws would not run again.
			report(ex);
		}
		return due.isEmpty();
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
	 * Offset of a shard that is read here, or was. Immutable.
	 *
	 * @param owner tells whether the shard is owned; {@code null} once it is not read any
	 * more
	 * @param wasOwned whether it was owned when it was read last
	 * @param next the next offset to read, {@code null} before the first commit
	 * @param due whether it is to be written
	 * @param at the time of the last commit
	 */
	private record Mirrored(TopicPartition partition, @Nullable RecordSink owner, boolean wasOwned,
			@Nullable OffsetAndMetadata next, boolean due, MonotonicTime at) {

		boolean isOwned() {
			return (this.owner != null) ? this.owner.isOwned() : this.wasOwned;
		}

		/** After a release another instance may have committed more. */
		boolean mayBeWritten(MonotonicTime now) {
			return (this.owner != null) ? this.owner.isOwned()
					: this.wasOwned && this.at.until(now).compareTo(LAST_WRITE_LIMIT) <= 0;
		}

		Mirrored released() {
			return new Mirrored(this.partition, null, isOwned(), this.next, this.due, this.at);
		}

		Mirrored at(OffsetAndMetadata committed, MonotonicTime now) {
			return new Mirrored(this.partition, this.owner, this.wasOwned, committed, true, now);
		}

		Mirrored renewed() {
			return new Mirrored(this.partition, this.owner, this.wasOwned, this.next, true, this.at);
		}

		Mirrored written() {
			return new Mirrored(this.partition, this.owner, this.wasOwned, this.next, false, this.at);
		}

	}

}
