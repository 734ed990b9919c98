package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore.Acquisition;
import io.github.shardkeeper.coordination.CheckpointStore.Checkpoint;
import io.github.shardkeeper.coordination.CheckpointStore.CommitReply;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;

/**
 * How far the handling of an acquired shard has come: its state, the offset of the last
 * record that counts as handled, and what of both is not committed yet. Confined to the
 * shard's worker.
 */
final class ShardProgress {

	private static final Logger logger = LoggerFactory.getLogger(ShardProgress.class);

	private static final int RECORDS_PER_COMMIT = 500;

	private static final Duration LONGEST_UNCOMMITTED = Duration.ofSeconds(1);

	private final OwnedShard owned;

	private final WorkerContext context;

	private final @Nullable Offset begin;

	private final JournaledState state;

	private @Nullable Offset committedOffset;

	private @Nullable Offset uncommittedOffset;

	private int uncommittedRecords;

	private MonotonicTime uncommittedSince;

	private long commitAttempts;

	private long acknowledgedCommit;

	private boolean storeDistrusted;

	ShardProgress(Checkpoint checkpoint, OwnedShard owned, WorkerContext context) {
		this.owned = owned;
		this.context = context;
		this.begin = checkpoint.offset();
		this.committedOffset = checkpoint.offset();
		this.state = new JournaledState(checkpoint.state(), context.mapper());
		this.uncommittedSince = context.clock().now();
	}

	/** The offset to read on after, {@code null} for a shard that nobody has read. */
	@Nullable Offset begin() {
		return this.begin;
	}

	JournaledState state() {
		return this.state;
	}

	/** A record was handled, and what it wrote to the state was kept. */
	void handled(Offset offset, MonotonicTime begun) {
		if (this.uncommittedRecords++ == 0) {
			this.uncommittedSince = begun;
		}
		this.uncommittedOffset = offset;
	}

	/** Whether enough has come together, or waited long enough. */
	boolean isCommitDue(MonotonicTime now) {
		return this.uncommittedRecords >= RECORDS_PER_COMMIT
				|| this.uncommittedRecords > 0 && this.uncommittedSince.until(now).compareTo(LONGEST_UNCOMMITTED) > 0;
	}

	/**
	 * What the store has of it may be lost or out of date: the next commit writes all of
	 * it.
	 */
	void distrustStore() {
		this.storeDistrusted = true;
	}

	/**
	 * Commits what is not committed. When the store does not answer, the next commit
	 * takes all of it along.
	 */
	Outcome commit() {
		if (this.storeDistrusted) {
			return writeBack();
		}
		if (this.uncommittedOffset == null && this.state.uncommitted().isEmpty()) {
			return Outcome.COMMITTED;
		}
		return commit(new CommitNumber(++this.commitAttempts, this.acknowledgedCommit), this.uncommittedOffset,
				this.state.uncommitted());
	}

	/**
	 * Makes a checkpoint anew, from memory. Only while the shard is held: otherwise a
	 * newer owner may have begun without one.
	 */
	private Outcome writeBack() {
		if (!this.owned.isHeld()) {
			return Outcome.NOT_YET;
		}
		Acquisition reply = this.context.checkpoints().acquire(this.owned.shard(), this.owned.token());
		if (!(reply instanceof Acquisition.Acquired acquired)) {
			return Outcome.FENCED;
		}
		Map<String, @Nullable String> whole = new HashMap<>(this.state.entries());
		acquired.checkpoint().state().keySet().forEach((key) -> whole.putIfAbsent(key, null));
		Offset offset = (this.uncommittedOffset != null) ? this.uncommittedOffset : this.committedOffset;
		Outcome outcome = commit(CommitNumber.ofWhole(++this.commitAttempts), offset, whole);
		if (outcome == Outcome.COMMITTED) {
			this.storeDistrusted = false;
			logger.info("The store has lost writes: {} was written back at offset {}, with {} entries of state",
					this.owned, offset, this.state.entries().size());
		}
		return outcome;
	}

	private Outcome commit(CommitNumber number, @Nullable Offset offset, Map<String, @Nullable String> changes) {
		CommitReply reply = await(this.context.checkpoints()
			.commit(this.owned.shard(), this.owned.token(), Commit.of(number, offset, changes)));
		if (reply == CommitReply.GONE) {
			boolean twice = this.storeDistrusted;
			this.storeDistrusted = true;
			return twice ? Outcome.NOT_YET : writeBack();
		}
		boolean accepted = reply == CommitReply.COMMITTED;
		if (accepted) {
			this.state.committed();
			this.acknowledgedCommit = number.attempt();
			this.committedOffset = (offset != null) ? offset : this.committedOffset;
			this.uncommittedOffset = null;
			this.uncommittedRecords = 0;
		}
		this.context.meters().committed(this.owned.shard().topic(), accepted);
		return accepted ? Outcome.COMMITTED : Outcome.FENCED;
	}

	private static CommitReply await(CompletableFuture<CommitReply> reply) {
		try {
			return reply.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Interrupted while waiting for the answer to a commit", ex);
		}
	}

	/** What came of a commit. */
	enum Outcome {

		/** There is nothing left to commit. */
		COMMITTED,
		/** A newer owner has acquired the shard; nothing was written. */
		FENCED,
		/**
		 * The store has no checkpoint to write to, and none may be made while the shard
		 * is not held.
		 */
		NOT_YET

	}

}
