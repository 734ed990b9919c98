package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Writes committed positions to an SLS consumer group, for the console and for a way back
 * to plain consumers; nothing is read from it. Creates the consumer group if it is
 * missing. A cursor cannot point into the logs of an answer, so the position written is
 * that of the cursor at or before the commit: up to an answer of logs less. Writes every
 * few seconds, on the thread {@code shardkeeper-sls-progress}, and once more when it is
 * closed. A failure delays nothing but the position shown. Thread-safe.
 */
final class ConsumerGroupProgress implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ConsumerGroupProgress.class);

	private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

	private final SlsClient client;

	private final String consumerGroup;

	private final Duration interval;

	private final ScheduledThreadPoolExecutor executor = Threads.scheduler("shardkeeper-sls-progress", 1);

	/** Cursors to write; guarded by this. */
	private final Map<ShardId, String> waiting = new HashMap<>();

	/** Guarded by this. */
	private boolean scheduled;

	/** Confined to the thread, like the others below. */
	private final Map<ShardId, String> written = new HashMap<>();

	private final Set<String> created = new HashSet<>();

	private boolean failed;

	/** Whether the rest has to wait, because a quota is exceeded. */
	private boolean throttled;

	/** Rounds with a failure, in a row. */
	private int failures;

	ConsumerGroupProgress(SlsClient client, String consumerGroup, Duration interval) {
		this.client = client;
		this.consumerGroup = consumerGroup;
		this.interval = interval;
	}

	/** Notes a committed offset. Does not wait. */
	void committed(ShardId shard, Offset offset) {
		String cursor = cursor(offset);
		if (cursor == null) {
			return;
		}
		synchronized (this) {
			this.waiting.put(shard, cursor);
			if (!this.scheduled && !this.executor.isShutdown()) {
				this.scheduled = true;
				this.executor.schedule(this::writeAll, this.interval.toNanos(), TimeUnit.NANOSECONDS);
			}
		}
	}

	private static @Nullable String cursor(Offset offset) {
		try {
			SlsOffset.Place resumed = SlsOffset.parse(offset).resumeAt();
			return (resumed != null) ? resumed.cursor() : null;
		}
		catch (IllegalArgumentException ex) {
			// Of the topic's former source.
			return null;
		}
	}

	private void writeAll() {
		Map<ShardId, String> due;
		synchronized (this) {
			this.scheduled = false;
			due = Map.copyOf(this.waiting);
			this.waiting.clear();
		}
		Map<ShardId, String> left = new HashMap<>(due);
		try {
			due.forEach((shard, cursor) -> {
				if (!this.throttled && write(shard, cursor)) {
					left.remove(shard);
				}
			});
		}
		finally {
			this.throttled = false;
			this.failures = left.isEmpty() ? 0 : this.failures + 1;
			if (!left.isEmpty()) {
				writeLater(left);
			}
		}
	}

	private synchronized void writeLater(Map<ShardId, String> left) {
		left.forEach(this.waiting::putIfAbsent);
		if (!this.scheduled && !this.executor.isShutdown()) {
			this.scheduled = true;
			Duration pause = RetryPause.after(this.failures, this.interval.multipliedBy(2), LONGEST_PAUSE);
			this.executor.schedule(this::writeAll, pause.toNanos(), TimeUnit.NANOSECONDS);
		}
	}

	/** Writes a position; returns whether that is done. */
	private boolean write(ShardId shard, String cursor) {
		if (cursor.equals(this.written.get(shard))) {
			return true;
		}
		try {
			if (!this.created.contains(shard.topic())) {
				this.client.createConsumerGroup(shard.topic(), this.consumerGroup);
				this.created.add(shard.topic());
			}
			this.client.updateCheckpoint(shard, this.consumerGroup, cursor);
			this.written.put(shard, cursor);
			if (this.failed) {
				logger.info("Positions are written to the SLS consumer group '{}' again", this.consumerGroup);
			}
			this.failed = false;
			return true;
		}
		catch (SlsFailure ex) {
			if (!this.failed) {
				logger.warn("Positions are not written to the SLS consumer group '{}'; consumption continues. {}",
						this.consumerGroup, ex.getMessage());
			}
			this.failed = true;
			// More requests would only exceed the quota again.
			this.throttled = ex.kind() == SlsFailure.Kind.THROTTLED;
			if (ex.kind() == SlsFailure.Kind.NO_CONSUMER_GROUP) {
				this.created.remove(shard.topic());
			}
			return false;
		}
	}

	/** Writes what waits, within the time limit of a few requests. */
	@Override
	public void close() {
		synchronized (this) {
			if (this.executor.isShutdown()) {
				return;
			}
			this.executor.execute(this::writeAll);
			this.executor.shutdown();
		}
		try {
			if (!this.executor.awaitTermination(this.client.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
				logger.debug("The last positions were not written to the SLS consumer group '{}'", this.consumerGroup);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.executor.shutdownNow();
	}

}
