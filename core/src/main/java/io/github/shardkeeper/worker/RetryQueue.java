package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.parking.ParkedKeys;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerMeters.ParkedTotals;

/**
 * Client of a shard's retry queue. Confined to the shard's worker.
 */
sealed interface RetryQueue {

	/** Limit, because one script blocks the store; a single record may be larger. */
	int MAX_BYTES_PER_LOOK = 1_000_000;

	/**
	 * Creates a client.
	 * @param nextLook the time from which records may be due, {@code null} if the queue
	 * is empty
	 */
	static RetryQueue of(ShardScope scope, @Nullable MonotonicTime nextLook) {
		ShardId shard = scope.owned().shard();
		WorkerContext context = scope.context();
		ConsumerSettings settings = scope.settings();
		return (settings.onFailure() == ConsumerSettings.OnFailure.PARK_KEY)
				? new Parked(shard, context.checkpoints(), context.budget(),
						new ParkedKeys(settings.parking().maxKeys(), settings.parking().maxRecords()),
						context.parked(shard.topic()), nextLook != null)
				: new Due(shard, context.checkpoints(), context.budget(), nextLook);
	}

	boolean isEmpty();

	/**
	 * Returns the next due record, {@code null} if there is none.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * answer
	 */
	@Nullable FailedRecord next(MonotonicTime now);

	/**
	 * Returns the number of unfinished records if it is so large that no more are
	 * fetched, otherwise 0.
	 */
	int stalledAt();

	/** Returns when to ask for the next record, {@code null} for not before an event. */
	@Nullable MonotonicTime nextLook();

	/** Asks the store now, because others have changed the queue. */
	void attend(MonotonicTime now);

	/**
	 * Processes the answer to a commit.
	 * @param changed the records of the queue that it has removed or put there again
	 * @param added the records that it has put there
	 */
	void committed(Collection<Offset> changed, List<Commit.Retry> added, MonotonicTime now);

	/** Ends with the worker. */
	default void end() {
	}

	/** Hands out every due record. Asks the store only when there may be some. */
	final class Due implements RetryQueue {

		private static final int MAX_OPEN = 100;

		private final ShardId shard;

		private final CheckpointStore checkpoints;

		private final BufferBudget budget;

		private final Deque<FailedRecord> due = new ArrayDeque<>(1);

		private final Set<Offset> open = new HashSet<>();

		/** Whether others have added records, perhaps with the offsets of open ones. */
		private boolean lookAfterCommit;

		/** Time from which records may be due; {@code null} if the queue is empty. */
		private @Nullable MonotonicTime nextLook;

		Due(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, @Nullable MonotonicTime nextLook) {
			this.shard = shard;
			this.checkpoints = checkpoints;
			this.budget = budget;
			this.nextLook = nextLook;
		}

		@Override
		public boolean isEmpty() {
			return this.nextLook == null && this.due.isEmpty() && this.open.isEmpty();
		}

		@Override
		public @Nullable FailedRecord next(MonotonicTime now) {
			if (this.due.isEmpty() && this.nextLook != null && !now.isBefore(this.nextLook)
					&& this.open.size() < MAX_OPEN) {
				look(now);
			}
			return this.due.poll();
		}

		private void look(MonotonicTime now) {
			DueRecords found = this.checkpoints.due(this.shard, MAX_OPEN,
					Math.min(MAX_BYTES_PER_LOOK, this.budget.evenShare()), this.open);
			for (FailedRecord queued : found.records()) {
				this.open.add(queued.offset());
				this.due.add(queued);
			}
			Duration next = found.nextIn();
			this.nextLook = (next != null) ? now.plus(next) : null;
		}

		@Override
		public int stalledAt() {
			return (this.due.isEmpty() && this.open.size() >= MAX_OPEN) ? this.open.size() : 0;
		}

		@Override
		public @Nullable MonotonicTime nextLook() {
			if (!this.due.isEmpty() || this.open.size() >= MAX_OPEN) {
				return null;
			}
			return this.nextLook;
		}

		private void lookAt(MonotonicTime time) {
			if (this.nextLook == null || time.isBefore(this.nextLook)) {
				this.nextLook = time;
			}
		}

		/** Also after the next commit: a record that was sent back may count as open. */
		@Override
		public void attend(MonotonicTime now) {
			lookAt(now);
			this.lookAfterCommit = !this.open.isEmpty();
		}

		@Override
		public void committed(Collection<Offset> changed, List<Commit.Retry> added, MonotonicTime now) {
			this.open.removeAll(changed);
			added.forEach((retry) -> lookAt(now.plus(retry.delay())));
			if (this.lookAfterCommit) {
				attend(now);
			}
		}

	}

	/**
	 * Hands out the records of each key in order. Knows what waits, but for the payloads;
	 * what an earlier owner has left is read before the first record is handed out.
	 */
	final class Parked implements RetryQueue {

		private static final Logger logger = PrintableLogger.of(RetryQueue.class);

		/** Number of records of a key that are fetched at once. */
		private static final int FETCHED_AT_ONCE = 50;

		private final ShardId shard;

		private final CheckpointStore checkpoints;

		private final BufferBudget budget;

		private final ParkedKeys keys;

		private final ParkedTotals totals;

		/** Records of one key that are next. */
		private final Map<Offset, FailedRecord> fetched = new HashMap<>();

		/** Whether the store may have records that are not known here. */
		private boolean compareDue;

		private boolean compareAfterCommit;

		Parked(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, ParkedKeys keys, ParkedTotals totals,
				boolean compareDue) {
			this.shard = shard;
			this.checkpoints = checkpoints;
			this.budget = budget;
			this.keys = keys;
			this.totals = totals;
			this.compareDue = compareDue;
		}

		/** Adds a failed record that the next commit stores, or replaces it. */
		void park(FailedRecord record, MonotonicTime due) {
			this.fetched.remove(record.offset());
			this.keys.park(record.key(), record.offset(), record.place(), due);
			this.totals.update(this.shard, this.keys);
		}

		/**
		 * Adds a record behind those of its key, which the next commit stores; returns
		 * when it is due.
		 */
		MonotonicTime parkBehind(FailedRecord record, MonotonicTime now) {
			this.fetched.remove(record.offset());
			MonotonicTime due = this.keys.parkBehind(record.key(), record.offset(), record.place(), now);
			this.totals.update(this.shard, this.keys);
			return due;
		}

		/** Removes a record that is handled or a dead letter. */
		void settled(Offset offset) {
			this.keys.settled(offset);
			this.totals.update(this.shard, this.keys);
		}

		/** Returns what waits; only after the first {@link #next}. */
		ParkedKeys keys() {
			return this.keys;
		}

		@Override
		public boolean isEmpty() {
			return !this.compareDue && this.keys.isEmpty();
		}

		@Override
		public @Nullable FailedRecord next(MonotonicTime now) {
			if (this.compareDue) {
				compare(now);
			}
			for (Offset next = this.keys.take(now); next != null; next = this.keys.take(now)) {
				FailedRecord record = fetch(next, now);
				if (record != null) {
					return record;
				}
				logger.warn("The record at offset {} of {} waited in the retry queue, and is not there any more", next,
						this.shard);
				this.keys.missing(next);
			}
			return null;
		}

		private void compare(MonotonicTime now) {
			this.fetched.clear();
			ParkedKeys.Comparison comparison = this.keys.compare(now);
			this.checkpoints.waiting(this.shard, (waiting) -> comparison.found(waiting.key(), waiting.offset(),
					waiting.place(), now.plus(waiting.dueIn()), waiting.attempts() > 0));
			int gone = comparison.end();
			if (gone > 0) {
				logger.warn(
						"{} records of {} waited in the retry queue, and are not there any more. Unless an operation has "
								+ "dropped them (the instance that was asked has logged that), the store has lost them",
						gone, this.shard);
			}
			this.compareDue = false;
			this.totals.update(this.shard, this.keys);
		}

		private @Nullable FailedRecord fetch(Offset next, MonotonicTime now) {
			FailedRecord known = this.fetched.remove(next);
			if (known != null) {
				return known;
			}
			this.fetched.clear();
			List<Offset> wanted = new ArrayList<>(List.of(next));
			wanted.addAll(this.keys.following(next, FETCHED_AT_ONCE - 1));
			try {
				this.checkpoints.retries(this.shard, wanted, Math.min(MAX_BYTES_PER_LOOK, this.budget.evenShare()))
					.forEach((record) -> this.fetched.put(record.offset(), record));
			}
			catch (RuntimeException ex) {
				this.keys.giveBack(next, now);
				throw ex;
			}
			return this.fetched.remove(next);
		}

		@Override
		public int stalledAt() {
			return 0;
		}

		@Override
		public @Nullable MonotonicTime nextLook() {
			return this.keys.nextDue();
		}

		@Override
		public void attend(MonotonicTime now) {
			this.compareDue = true;
			this.compareAfterCommit = this.keys.awaitsCommit();
		}

		@Override
		public void committed(Collection<Offset> changed, List<Commit.Retry> added, MonotonicTime now) {
			this.keys.committed(changed, added.stream().map((retry) -> retry.record().offset()).toList());
			this.compareDue |= this.compareAfterCommit;
			this.compareAfterCommit = false;
			this.totals.update(this.shard, this.keys);
		}

		@Override
		public void end() {
			this.totals.remove(this.shard);
		}

	}

}
