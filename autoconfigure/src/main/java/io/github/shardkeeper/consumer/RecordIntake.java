package io.github.shardkeeper.consumer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Where the next delivery of a shard comes from: records that were read, records of the
 * retry queue that are due, and those of a list that failed as a whole. Confined to the
 * shard's worker, but for {@link #buffer}.
 */
final class RecordIntake {

	private static final Logger logger = LoggerFactory.getLogger(RecordIntake.class);

	private final OwnedShard owned;

	private final WorkerContext context;

	private final RecordBuffer buffer;

	/** How many records make a delivery at most. */
	private final int batchSize;

	private final BufferShare share;

	private final Deque<Delivery> split = new ArrayDeque<>();

	/**
	 * Creates an intake of which nothing is read yet.
	 * @param wake wakes the worker when what others give back lets it read on
	 */
	RecordIntake(OwnedShard owned, WorkerContext context, ConsumerSettings settings, int batchSize, Runnable wake) {
		this.owned = owned;
		this.context = context;
		this.batchSize = batchSize;
		this.share = new BufferShare(context.budget(), wake);
		this.buffer = new RecordBuffer(settings.buffer(), this.share);
	}

	/** What the shard has of the budget of all. */
	BufferShare share() {
		return this.share;
	}

	/** What was read ahead. */
	RecordBuffer buffer() {
		return this.buffer;
	}

	/** What was taken up together comes one by one, before anything else. */
	void split(List<Delivery> parts) {
		for (int i = parts.size() - 1; i >= 0; i--) {
			this.split.addFirst(parts.get(i));
		}
	}

	/**
	 * Takes up the next delivery; {@code null} if there is none now.
	 * @throws RuntimeException if the reader cannot read on; nothing was taken up then
	 */
	@Nullable Delivery next(ShardProgress progress, MonotonicTime now) {
		readOn();
		Delivery next = takeUp(progress, now);
		try {
			readOn();
		}
		catch (RuntimeException ex) {
			// What was taken up is handled first; the next call says what is wrong.
			logger.debug("{} cannot be read on yet", this.owned, ex);
		}
		return next;
	}

	/** If the reader had to pause, and there is room again. */
	private void readOn() {
		this.buffer.readOn(() -> this.context.reader().resume(this.owned.shard()));
	}

	private @Nullable Delivery takeUp(ShardProgress progress, MonotonicTime now) {
		Delivery part = this.split.poll();
		if (part != null) {
			return part;
		}
		FailedRecord queued = progress.queue().next(now);
		return (queued != null) ? new Delivery(TrackedRecord.ofQueue(queued)) : read(progress, now);
	}

	private @Nullable Delivery read(ShardProgress progress, MonotonicTime now) {
		TrackedRecord first = take(progress, now);
		if (first == null) {
			return null;
		}
		if (this.batchSize == 1) {
			return new Delivery(first);
		}
		List<TrackedRecord> records = new ArrayList<>();
		for (TrackedRecord next = first; next != null; next = take(progress, now)) {
			records.add(next);
			if (records.size() == this.batchSize) {
				break;
			}
		}
		return new Delivery(records);
	}

	/** The next record that was not handled by an earlier owner. */
	private @Nullable TrackedRecord take(ShardProgress progress, MonotonicTime now) {
		while (!progress.window().isFull()) {
			SourceRecord source = this.buffer.peek();
			if (source == null) {
				return null;
			}
			TrackedRecord taken = progress.take(source, now);
			this.buffer.remove();
			if (taken != null) {
				return taken;
			}
		}
		return null;
	}

	/** Whether nothing is left, and nothing more will come. */
	boolean isAtEnd() {
		return this.split.isEmpty() && this.buffer.isAtEnd();
	}

}
