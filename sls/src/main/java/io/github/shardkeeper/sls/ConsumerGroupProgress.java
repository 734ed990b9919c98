package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.HeldPositions;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Writes the positions of the shards that are held to an SLS consumer group, for the
 * console and for a way back to plain consumers; nothing is read from it. Creates the
 * consumer group if it is missing. {@link HeldPositions} decides when a position is
 * written; each is written by a request of its own, on the thread
 * {@code shardkeeper-sls-progress}. A cursor cannot point into the logs of a reply, so
 * the position written is that of the cursor at or before the commit: up to a reply of
 * logs less. A failure delays nothing but the position shown. Thread-safe.
 */
final class ConsumerGroupProgress implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ConsumerGroupProgress.class);

	private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

	private final SlsClient client;

	private final String consumerGroup;

	private final Duration delay;

	private final MonotonicClock clock;

	private final HeldPositions<String> positions;

	private final ScheduledThreadPoolExecutor executor = Threads.scheduler("shardkeeper-sls-progress", 1);

	/** The next round; guarded by this, as are the two below. */
	private @Nullable ScheduledFuture<?> scheduled;

	private @Nullable MonotonicTime scheduledAt;

	/** End of the pause after a failure. */
	private @Nullable MonotonicTime pausedUntil;

	/** Confined to the thread, like the others below. */
	private final Set<String> created = new HashSet<>();

	private boolean failed;

	/** Rounds with a failure, in a row. */
	private int failures;

	/**
	 * Creates it for shards that are not read yet.
	 * @param delay the time between an acquisition or a commit and its write
	 * @param refresh the time after which a position is written again
	 */
	ConsumerGroupProgress(SlsClient client, String consumerGroup, Duration delay, Duration refresh,
			MonotonicClock clock) {
		this.client = client;
		this.consumerGroup = consumerGroup;
		this.delay = delay;
		this.clock = clock;
		this.positions = new HeldPositions<>(delay, refresh);
	}

	/** Notes that a shard is read from an offset on. Does not wait. */
	void started(ShardId shard, @Nullable Offset after, BooleanSupplier owned) {
		this.positions.started(shard, (after != null) ? cursor(after) : null, owned, this.clock.now());
		schedule();
	}

	/** Notes a committed offset. Does not wait. */
	void committed(ShardId shard, Offset offset) {
		String cursor = cursor(offset);
		if (cursor != null) {
			this.positions.committed(shard, cursor, this.clock.now());
			schedule();
		}
	}

	/** Notes that a shard is not read any more. Does not wait. */
	void stopped(ShardId shard) {
		this.positions.stopped(shard, this.clock.now());
		schedule();
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

	private synchronized void schedule() {
		MonotonicTime due = this.positions.nextDue();
		if (due == null) {
			return;
		}
		MonotonicTime paused = this.pausedUntil;
		MonotonicTime at = (paused != null && due.isBefore(paused)) ? paused : due;
		if (this.scheduled != null && this.scheduledAt != null && !at.isBefore(this.scheduledAt)) {
			return;
		}
		if (this.scheduled != null) {
			this.scheduled.cancel(false);
		}
		try {
			this.scheduledAt = at;
			this.scheduled = this.executor.schedule(this::writeDue, this.clock.now().until(at).toNanos(),
					TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Closed", ex);
		}
	}

	private void writeDue() {
		synchronized (this) {
			this.scheduled = null;
			this.pausedUntil = null;
		}
		List<HeldPositions.Due<String>> failed = new ArrayList<>();
		try {
			for (HeldPositions.Due<String> due = next(); due != null; due = next()) {
				SlsFailure failure = write(due);
				if (failure == null) {
					continue;
				}
				failed.add(due);
				if (failure.kind() == SlsFailure.Kind.THROTTLED || failure.kind() == SlsFailure.Kind.NO_ANSWER) {
					// More requests would fail, too.
					break;
				}
			}
		}
		finally {
			// Not within the round, or a slow one would never end.
			failed.forEach((each) -> this.positions.failed(each, this.clock.now().plus(this.delay)));
			pause(!failed.isEmpty());
			schedule();
		}
	}

	private HeldPositions.@Nullable Due<String> next() {
		return this.positions.next(this.clock.now());
	}

	private synchronized void pause(boolean failing) {
		this.failures = failing ? this.failures + 1 : 0;
		if (failing && this.scheduled != null) {
			// A commit during the round has asked for the next one.
			this.scheduled.cancel(false);
			this.scheduled = null;
		}
		this.pausedUntil = failing
				? this.clock.now().plus(RetryPause.after(this.failures, this.delay.multipliedBy(2), LONGEST_PAUSE))
				: null;
	}

	/** Writes a position; returns why that has failed, {@code null} if it has not. */
	private @Nullable SlsFailure write(HeldPositions.Due<String> due) {
		String topic = due.shard().topic();
		try {
			if (!this.created.contains(topic)) {
				this.client.createConsumerGroup(topic, this.consumerGroup);
				this.created.add(topic);
			}
			this.client.updateCheckpoint(due.shard(), this.consumerGroup, due.position());
			if (this.failed) {
				logger.info("Positions are written to the SLS consumer group '{}' again", this.consumerGroup);
			}
			this.failed = false;
			return null;
		}
		catch (SlsFailure ex) {
			if (!this.failed) {
				logger.warn("Positions are not written to the SLS consumer group '{}'; consumption continues. {}",
						this.consumerGroup, ex.getMessage());
			}
			this.failed = true;
			if (ex.kind() == SlsFailure.Kind.NO_CONSUMER_GROUP) {
				this.created.remove(topic);
			}
			return ex;
		}
	}

	/** Writes what is left, within the time limit of a few requests. */
	@Override
	public void close() {
		synchronized (this) {
			if (this.executor.isShutdown()) {
				return;
			}
			this.positions.stoppedAll(this.clock.now());
			this.executor.execute(this::writeDue);
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
