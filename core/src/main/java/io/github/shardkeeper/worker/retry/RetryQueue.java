package io.github.shardkeeper.worker.retry;

import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.parking.ParkedKeys;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Client of a shard's retry queue. Confined to the shard's worker.
 */
public sealed interface RetryQueue permits DueQueue, ParkedQueue {

	/** Limit, because one script blocks the store; a single record may be larger. */
	int MAX_BYTES_PER_LOOK = 1_000_000;

	/**
	 * Creates a client.
	 * @param nextLook the time from which records may be due, {@code null} if the queue
	 * is empty
	 */
	static RetryQueue of(OwnedShard owned, @Nullable MonotonicTime nextLook) {
		ShardId shard = owned.shard();
		WorkerContext context = owned.context();
		ConsumerSettings settings = owned.settings();
		return (settings.onFailure() == ConsumerSettings.OnFailure.PARK_KEY)
				? new ParkedQueue(shard, context.checkpoints(), context.budget(),
						new ParkedKeys(settings.parking().maxKeys(), settings.parking().maxRecords()),
						context.backlog(shard.topic()).parked(), nextLook != null)
				: new DueQueue(shard, context.checkpoints(), context.budget(), nextLook);
	}

	boolean isEmpty();

	/**
	 * Returns whether it keeps the order of keys: while a record of a key waits, later
	 * ones of the key wait behind it.
	 */
	default boolean keepsOrder() {
		return false;
	}

	/** Returns whether a record from the source waits for others of its key. */
	default boolean mustWait(SourceRecord record) {
		return false;
	}

	/** Returns whether a record from the source may be put into the queue. */
	default boolean hasRoom(SourceRecord record) {
		return true;
	}

	/** Returns a new record with its place among those of its key. */
	default FailedRecord placed(FailedRecord record) {
		return record;
	}

	/** Processes that the next commit puts a failed record there, or replaces it. */
	default void put(FailedRecord record, MonotonicTime due) {
	}

	/**
	 * Returns what the next commit has to put there so that a record waits behind those
	 * of its key; {@code null} if the record is there already.
	 */
	default Commit.@Nullable Retry putBehind(FailedRecord record, MonotonicTime now) {
		throw new IllegalStateException("No record waits behind others");
	}

	/** Processes that a record is removed: it is handled or a dead letter. */
	default void removed(Offset offset) {
	}

	/** Returns the number of keys that wait, 0 if it does not know them. */
	default int keys() {
		return 0;
	}

	/** Returns how many keys have ceased to wait so far, 0 if it does not know them. */
	default long releasedKeys() {
		return 0;
	}

	/** Returns the number of records that wait, 0 if it does not know them. */
	default int records() {
		return 0;
	}

	/**
	 * Returns the next due record, {@code null} if there is none.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
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
	 * Processes the reply to a commit.
	 * @param changed the records of the queue that it has removed or put there again
	 * @param added the records that it has put there
	 */
	void committed(Collection<Offset> changed, List<Commit.Retry> added, MonotonicTime now);

	/** Ends with the worker. */
	default void end() {
	}

}
