package io.github.shardkeeper.kafka;

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
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Sets the offsets of a Kafka group to those of the checkpoints, at most once per second
 * and later than the checkpoints. Nothing reads them here. Thread-safe.
 */
final class GroupMirror {

	private static final Logger logger = PrintableLogger.of(GroupMirror.class);

	private static final long DELAY_MILLIS = 1000;

	private static final long DELAY_AFTER_FAILURE_MILLIS = 5000;

	private final String group;

	private final KafkaAdmin admin;

	private final ScheduledExecutorService executor;

	/** Next offset to read by partition. */
	private final Map<TopicPartition, Long> pending = new ConcurrentHashMap<>();

	private final AtomicBoolean scheduled = new AtomicBoolean();

	/** Guarded by this. */
	private final ProblemLog log = new ProblemLog();

	GroupMirror(String group, KafkaAdmin admin, ScheduledExecutorService executor) {
		this.group = group;
		this.admin = admin;
		this.executor = executor;
	}

	/** Does not wait. */
	void committed(TopicPartition partition, long next) {
		this.pending.put(partition, next);
		schedule(DELAY_MILLIS);
	}

	private void schedule(long millis) {
		if (!this.scheduled.compareAndSet(false, true)) {
			return;
		}
		try {
			this.executor.schedule(this::send, millis, TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The source is closed", ex);
		}
	}

	private void send() {
		this.scheduled.set(false);
		if (!sendNow()) {
			schedule(DELAY_AFTER_FAILURE_MILLIS);
		}
	}

	/**
	 * Sends what is pending; returns whether Kafka has taken it. One call at a time: the
	 * last one also sends what an interrupted one has left.
	 */
	synchronized boolean sendNow() {
		Map<TopicPartition, Long> offsets = new HashMap<>();
		for (TopicPartition partition : this.pending.keySet()) {
			Long next = this.pending.remove(partition);
			if (next != null) {
				offsets.put(partition, next);
			}
		}
		if (offsets.isEmpty()) {
			return true;
		}
		Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
		offsets.forEach((partition, next) -> all.put(partition, new OffsetAndMetadata(next)));
		try {
			AlterConsumerGroupOffsetsResult result = this.admin.client()
				.alterConsumerGroupOffsets(this.group, all, KafkaAdmin.limited(new AlterConsumerGroupOffsetsOptions()));
			offsets.keySet().removeIf((partition) -> isSet(result.partitionResult(partition)));
			if (offsets.isEmpty() && this.log.resolved()) {
				logger.info("The offsets of the Kafka group '{}' can be set again", this.group);
			}
		}
		catch (StoreUnavailableException ex) {
			report(ex);
		}
		// Newer ones count.
		offsets.forEach(this.pending::putIfAbsent);
		return offsets.isEmpty();
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

	private void report(StoreUnavailableException failure) {
		if (!this.executor.isShutdown() && this.log.isNew(String.valueOf(failure.getMessage()))) {
			logger.warn("{}; retrying. A group that has members does not accept them. Checkpoints are not affected",
					failure.getMessage());
		}
	}

}
