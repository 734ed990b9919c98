package io.github.shardkeeper.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.record.RecordBuffer;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Takes up the next delivery of a shard: first the parts of a list that failed as a
 * whole, then due records of the retry queue, then due timers and records from the
 * reader. Confined to the shard's worker, except for {@link #buffer}.
 */
final class RecordIntake {

	private static final Logger logger = PrintableLogger.of(RecordIntake.class);

	private static final int MAX_OF_QUEUE_IN_A_ROW = 10;

	private static final int MAX_TIMERS_IN_A_ROW = 10;

	private final OwnedShard owned;

	private final ShardProblems problems;

	private final ShardProgress progress;

	private final RecordBuffer buffer;

	private final int batchSize;

	private final BufferBudget.Share share;

	private final Deque<Delivery> parts = new ArrayDeque<>(1);

	/** Deliveries that may neither be handled nor wait in the retry queue. */
	private final Deque<Delivery> heldBack = new ArrayDeque<>(1);

	/** Number of records of the retry queue taken up since the last other one. */
	private int ofQueueInARow;

	/** Number of timers taken up since the last record from the reader. */
	private int timersInARow;

	RecordIntake(OwnedShard owned, ShardProblems problems, ShardProgress progress, int batchSize) {
		this.owned = owned;
		this.problems = problems;
		this.progress = progress;
		this.batchSize = batchSize;
		this.share = new BufferBudget.Share(owned.context().budget(),
				owned.context().backlog(owned.shard().topic()).buffered(), owned::wake);
		this.buffer = new RecordBuffer(owned.settings().buffer().records(), owned.settings().buffer().bytes(),
				this.share);
	}

	BufferBudget.Share share() {
		return this.share;
	}

	RecordBuffer buffer() {
		return this.buffer;
	}

	void addParts(List<Delivery> split) {
		for (int i = split.size() - 1; i >= 0; i--) {
			this.parts.addFirst(split.get(i));
		}
	}

	/**
	 * Holds deliveries back until records may wait behind those of their keys: nothing
	 * but records of the retry queue is taken up meanwhile.
	 */
	void holdBack(List<Delivery> deliveries) {
		this.heldBack.addAll(deliveries);
	}

	/** Takes up what is held back again if there is room for its first record. */
	private void resume() {
		Delivery first = this.heldBack.peek();
		if (first != null && hasRoom(first)) {
			List<Delivery> resumed = List.copyOf(this.heldBack);
			this.heldBack.clear();
			addParts(resumed);
			this.problems.retryQueueHasRoom();
		}
	}

	private boolean hasRoom(Delivery delivery) {
		TrackedRecord waiting = delivery.records()
			.stream()
			.filter(this.progress::mustWait)
			.findFirst()
			.orElse(delivery.first());
		return this.progress.mayWait(waiting);
	}

	/**
	 * Takes up the next delivery, {@code null} for none.
	 * @throws RuntimeException if the reader cannot be resumed; then nothing is taken up
	 */
	@Nullable Delivery next(MonotonicTime now) {
		resumeReader();
		Delivery next = takeUp(now);
		try {
			resumeReader();
		}
		catch (RuntimeException ex) {
			// The delivery is handled first; the next call tries again.
			logger.debug("The reader of {} cannot be resumed yet", this.owned, ex);
		}
		return next;
	}

	private void resumeReader() {
		this.buffer.resume(() -> this.owned.context().reader().resume(this.owned.shard()));
	}

	private @Nullable Delivery takeUp(MonotonicTime now) {
		resume();
		Delivery part = this.heldBack.isEmpty() ? this.parts.poll() : null;
		if (part != null) {
			return part;
		}
		if (this.ofQueueInARow >= MAX_OF_QUEUE_IN_A_ROW && this.progress.queue().keepsOrder()) {
			// A long sequence of one key must not stop all others. Not more of its new
			// records are put behind it than it has less meanwhile.
			Delivery other = this.heldBack.isEmpty() ? takeUpNew(now, 1) : null;
			if (other != null) {
				return other;
			}
		}
		FailedRecord queued = this.progress.queue().next(now);
		if (queued != null) {
			this.ofQueueInARow++;
			return new Delivery(TrackedRecord.ofQueue(queued));
		}
		if (this.heldBack.isEmpty()) {
			return takeUpNew(now, this.batchSize);
		}
		// The queue may have found out that others have made room.
		resume();
		return this.heldBack.isEmpty() ? this.parts.poll() : null;
	}

	/** Takes up what was never called; neither timers nor records stop the others. */
	private @Nullable Delivery takeUpNew(MonotonicTime now, int most) {
		this.ofQueueInARow = 0;
		if (this.timersInARow < MAX_TIMERS_IN_A_ROW) {
			TrackedRecord timer = this.progress.timers().next(now);
			if (timer != null) {
				this.timersInARow++;
				return new Delivery(timer);
			}
		}
		boolean timersMayBeDue = this.timersInARow >= MAX_TIMERS_IN_A_ROW;
		this.timersInARow = 0;
		Delivery read = takeUpRead(now, most);
		return (read == null && timersMayBeDue) ? takeUpNew(now, most) : read;
	}

	/**
	 * Returns when to ask for the next delivery, {@code null} for not before an event.
	 */
	@Nullable MonotonicTime nextLook(MonotonicTime now) {
		return MonotonicTime.earliestOf(this.progress.queue().nextLook(),
				this.heldBack.isEmpty() ? this.progress.timers().nextLook(now) : null);
	}

	private @Nullable Delivery takeUpRead(MonotonicTime now, int most) {
		TrackedRecord first = takeRecord(now);
		if (first == null) {
			return null;
		}
		if (most == 1) {
			return new Delivery(first);
		}
		List<TrackedRecord> records = new ArrayList<>();
		for (TrackedRecord next = first; next != null; next = takeRecord(now)) {
			records.add(next);
			if (records.size() == most) {
				break;
			}
		}
		return new Delivery(records);
	}

	/** Takes up the next record that an earlier owner has not handled. */
	private @Nullable TrackedRecord takeRecord(MonotonicTime now) {
		while (!this.progress.window().isFull()) {
			SourceRecord source = this.buffer.peek();
			if (source == null) {
				return null;
			}
			TrackedRecord taken = this.progress.take(source, now);
			this.buffer.remove();
			if (taken != null) {
				return taken;
			}
		}
		return null;
	}

	/**
	 * Moves the shard if its source has done so and every earlier record is done. The
	 * worker has to wait for the commit.
	 */
	void move() {
		RecordBuffer.Move move = this.buffer.peekMove();
		if (move != null && this.progress.window().isEmpty() && !this.progress.isMoving()) {
			this.progress.moveTo(move, this.owned.context().clock().now());
			this.buffer.removeMove();
		}
	}

	boolean isAtEnd() {
		return this.heldBack.isEmpty() && this.parts.isEmpty() && this.buffer.isAtEnd();
	}

}
