package io.github.shardkeeper.worker.retry;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.parking.ParkedKeys;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ParkedTotals;

/**
 * Retry queue that keeps the order of keys: while a record of a key waits, later ones
 * wait behind it. Knows what waits, but for the payloads; what an earlier owner has left
 * is read before the first record is handed out. Confined to the shard's worker.
 */
final class ParkedQueue implements RetryQueue {

	private static final Logger logger = PrintableLogger.of(ParkedQueue.class);

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

	ParkedQueue(ShardId shard, CheckpointStore checkpoints, BufferBudget budget, ParkedKeys keys, ParkedTotals totals,
			boolean compareDue) {
		this.shard = shard;
		this.checkpoints = checkpoints;
		this.budget = budget;
		this.keys = keys;
		this.totals = totals;
		this.compareDue = compareDue;
	}

	@Override
	public void put(FailedRecord record, MonotonicTime due) {
		this.fetched.remove(record.offset());
		this.keys.park(record.key(), record.offset(), record.place(), due);
		this.totals.update(this.shard, this.keys);
	}

	@Override
	public Commit.@Nullable Retry putBehind(FailedRecord record, MonotonicTime now) {
		if (this.keys.isUnderWay(record.offset())) {
			return null;
		}
		FailedRecord placed = placed(record);
		this.fetched.remove(placed.offset());
		MonotonicTime due = this.keys.parkBehind(placed.key(), placed.offset(), placed.place(), now);
		this.totals.update(this.shard, this.keys);
		return new Commit.Retry(placed, now.until(due));
	}

	@Override
	public boolean keepsOrder() {
		return true;
	}

	@Override
	public boolean mustWait(SourceRecord record) {
		return this.keys.isParked(record.key(), record.offset());
	}

	@Override
	public boolean hasRoom(SourceRecord record) {
		return this.keys.hasRoom(record.key(), record.offset());
	}

	@Override
	public FailedRecord placed(FailedRecord record) {
		return record.at(this.keys.placeFor(record.offset(), record.failedAt().toEpochMilli()));
	}

	@Override
	public void removed(Offset offset) {
		this.keys.settled(offset);
		this.totals.update(this.shard, this.keys);
	}

	@Override
	public int keys() {
		return this.keys.keys();
	}

	@Override
	public int records() {
		return this.keys.records();
	}

	@Override
	public long releasedKeys() {
		return this.keys.released();
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
