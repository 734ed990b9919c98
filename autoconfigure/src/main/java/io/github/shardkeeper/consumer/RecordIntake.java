package io.github.shardkeeper.consumer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Where the next delivery of a shard comes from: records that were read, records of the
 * retry queue that are due, and those of a list that failed as a whole. Confined to the
 * shard's worker, but for {@link #buffer}.
 */
final class RecordIntake {

	private final OwnedShard owned;

	private final WorkerContext context;

	private final RecordBuffer buffer;

	/** How many records make a delivery at most. */
	private final int batchSize;

	private final BufferShare share;

	private final Deque<Delivery> split = new ArrayDeque<>();

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

	/**
	 * A list failed as a whole: its records come one by one, and have had their turns.
	 */
	void split(Delivery failed) {
		List<Delivery> parts = failed.parts();
		for (int i = parts.size() - 1; i >= 0; i--) {
			this.split.addFirst(parts.get(i));
		}
	}

	/** Takes up the next delivery; {@code null} if there is none now. */
	@Nullable Delivery next(ShardProgress progress, MonotonicTime now) {
		readOn();
		Delivery part = this.split.poll();
		if (part != null) {
			return part;
		}
		FailedRecord queued = progress.queue().next(now);
		if (queued != null) {
			return new Delivery(TrackedRecord.ofQueue(queued));
		}
		Delivery read = read(progress, now);
		if (read != null) {
			readOnBeside(read);
		}
		return read;
	}

	/** While a handler has these, the next ones may come. */
	private void readOnBeside(Delivery taken) {
		try {
			readOn();
		}
		catch (RuntimeException ex) {
			// They are out of the buffer: they come with the next attempt.
			this.split.addFirst(taken);
			throw ex;
		}
	}

	/** Has the reader go on if it was told to pause, and there is room by now. */
	private void readOn() {
		this.buffer.readOn(() -> this.context.reader().resume(this.owned.shard()));
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
			this.buffer.remove();
			TrackedRecord taken = progress.take(source, now);
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
