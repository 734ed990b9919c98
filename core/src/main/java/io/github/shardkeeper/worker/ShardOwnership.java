package io.github.shardkeeper.worker;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.ShardOutbox;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.state.StateView;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.call.TurnWatch;
import io.github.shardkeeper.worker.commit.CommitNumbers;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.commit.OwnedStateSource;
import io.github.shardkeeper.worker.commit.StateOnUseCommitter;
import io.github.shardkeeper.worker.commit.TransactionalCommitter;
import io.github.shardkeeper.worker.commit.WriteBackCommitter;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Ownership of an acquired shard until its last commit. After a seek the shard is
 * acquired again under the same token. The new ownership shares only the numbers of the
 * commits with the one before, so that late records and acknowledgments have no effect.
 * Confined to the shard's worker, except for the sink of records.
 */
final class ShardOwnership {

	private static final Logger logger = PrintableLogger.of(ShardOwnership.class);

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final HandlerCalls handlerCalls;

	private final ShardProblems problems;

	private final WorkerContext context;

	private final ShardProgress progress;

	private final Committer committer;

	private final Loop loop;

	private boolean started;

	private boolean reading;

	private boolean readingStopped;

	private boolean endReported;

	private boolean revoked;

	/** Whether the revocation callback was interrupted, and is called once more. */
	private boolean revocationRepeated;

	/** Creates an ownership; {@code earlier} is the one before a seek, if any. */
	ShardOwnership(OwnedShard owned, ShardHandler handler, HandlerCalls handlerCalls, TurnWatch turns,
			ShardProblems problems, ShardOutbox outbox, Acquisition.Acquired acquired,
			@Nullable ShardOwnership earlier) {
		this.owned = owned;
		this.handler = handler;
		this.handlerCalls = handlerCalls;
		this.problems = problems;
		this.context = owned.context();
		CommitNumbers numbers;
		if (earlier != null) {
			numbers = earlier.committer.numbers();
			numbers.acquiredAgain(acquired);
		}
		else {
			numbers = new CommitNumbers(acquired, this.context.nextOwnership());
		}
		this.progress = new ShardProgress(acquired, owned, outbox, new OwnedStateSource(owned, numbers),
				handler.hasTimers());
		this.committer = committer(numbers);
		this.loop = (this.handler.shape() == HandlerShape.LOOP)
				? new FixedShardLoop(owned, handler, handlerCalls, problems, this.committer)
				: new RecordLoop(owned, handler, handlerCalls, turns, problems, this.committer);
	}

	private Committer committer(CommitNumbers numbers) {
		CallTransactions transactions = this.context.checkpoints().transactions(this.owned.shard().topic());
		if (transactions != null) {
			return new TransactionalCommitter(transactions, numbers, this.progress, this.owned);
		}
		return (this.owned.settings().stateRead() == StateRead.ON_USE)
				? new StateOnUseCommitter(numbers, this.progress, this.owned)
				: new WriteBackCommitter(numbers, this.progress, this.owned);
	}

	ShardProgress progress() {
		return this.progress;
	}

	Committer committer() {
		return this.committer;
	}

	/** Returns whether reading has started; it may have stopped since. */
	boolean isReading() {
		return this.reading;
	}

	/** Returns whether the assigned callback has returned: a last commit is needed. */
	boolean isStarted() {
		return this.started;
	}

	/** Calls the assigned callback and starts reading, as far as this turn allows. */
	void start() {
		if (this.started || callAssigned()) {
			read();
		}
	}

	private boolean callAssigned() {
		HandlerCalls.Result result = this.handlerCalls.callbackWhileHeld(this.progress.state(),
				(view) -> this.handler.assigned(this.owned, Objects.requireNonNull(view)));
		if (result.failure() != null) {
			throwIfUnavailable(result);
			if (this.owned.isHeld() && !result.interrupted()) {
				this.problems.callbackFailed("@OnShardAssigned", result.failure());
			}
			return false;
		}
		keepChanges(result);
		this.problems.callSucceeded();
		this.started = true;
		return true;
	}

	/** The callback could not read its state: it is repeated when the store replies. */
	private void throwIfUnavailable(HandlerCalls.Result result) {
		StoreUnavailableException unavailable = result.unavailable();
		if (unavailable != null && !this.owned.isLost()) {
			throw unavailable;
		}
	}

	private void read() {
		if (this.handler.shape() != HandlerShape.LOOP) {
			// If this throws, a later turn repeats it.
			this.context.reader().start(this.owned.shard(), this.progress.begin(), new Sink());
		}
		this.reading = true;
		this.context.events().assigned(this.owned, this.progress.begin());
	}

	/** Handles records for one turn. Only after {@link #start}. */
	Loop.Outcome run() {
		return this.loop.run();
	}

	/**
	 * Stops reading and returns whether all calls have returned. Running calls wake the
	 * worker when they return.
	 */
	boolean stop() {
		if (this.reading && !this.readingStopped) {
			this.context.reader().stop(this.owned.shard());
			this.loop.clear();
			this.readingStopped = true;
		}
		return this.loop.collectResults();
	}

	/**
	 * Calls the revocation callback, and once more if it was interrupted: nothing else
	 * can finish its work. Returns whether that is done; if not, the worker is woken when
	 * the lease is held again.
	 */
	boolean revoke() {
		if (!this.started || this.revoked) {
			return true;
		}
		if (this.revocationRepeated && this.owned.isLost()) {
			this.revoked = true;
			return true;
		}
		if (this.revocationRepeated && !this.owned.isHeld()) {
			return false;
		}
		while (true) {
			HandlerCalls.Result result = this.handlerCalls.callback(this.progress.state(),
					(view) -> this.handler.revoked(this.owned, Objects.requireNonNull(view)));
			// The callback may have acknowledged records.
			this.loop.collectResults();
			throwIfUnavailable(result);
			if (!result.interrupted() || this.owned.isLost() || this.revocationRepeated && this.owned.isHeld()) {
				this.revoked = true;
				revocationEnded(result);
				return true;
			}
			logger.info("@OnShardRevoked was interrupted for {}; it is repeated once", this.owned);
			this.revocationRepeated = true;
			if (!this.owned.isHeld()) {
				return false;
			}
		}
	}

	private void revocationEnded(HandlerCalls.Result result) {
		if (result.failure() != null) {
			logger.warn("@OnShardRevoked failed for {}; the shard is released nevertheless", this.owned,
					result.failure());
			return;
		}
		boolean hasWritten = !Objects.requireNonNull(result.view()).isUntouched();
		if (hasWritten && this.progress.state().hasUncommittable()) {
			// It may depend on writes of records that are handled again. And records that
			// are acknowledged during the last commit must not overwrite it.
			logger.warn("What @OnShardRevoked wrote to the state of {} is dropped: records were handled and not "
					+ "acknowledged, and it builds on what they wrote. Acknowledge them before it returns, or write "
					+ "no state in it", this.owned);
			return;
		}
		keepChanges(result);
	}

	private void keepChanges(HandlerCalls.Result result) {
		StateView view = Objects.requireNonNull(result.view());
		// Not null: no other call has run meanwhile.
		JournaledState.Changes changes = Objects.requireNonNull(this.progress.state().add(view));
		this.progress.stateChanged(changes, this.context.clock().now());
	}

	/** Reports the revocation if the assignment was reported. */
	void end() {
		this.progress.state().close();
		this.progress.queue().end();
		if (this.reading && !this.endReported) {
			this.endReported = true;
			this.context.events().revoked(this.owned, this.owned.isLost());
		}
	}

	private final class Sink implements ShardReader.RecordSink {

		@Override
		public boolean offer(List<SourceRecord> records) {
			boolean hasRoom = ShardOwnership.this.loop.offer(records);
			ShardOwnership.this.owned.wake();
			return hasRoom;
		}

		@Override
		public void movedTo(Offset after, boolean offsetsReused) {
			ShardOwnership.this.loop.movedTo(after, offsetsReused);
			ShardOwnership.this.owned.wake();
		}

		@Override
		public void ended() {
			ShardOwnership.this.loop.ended();
			ShardOwnership.this.owned.wake();
		}

		@Override
		public boolean isOwned() {
			return ShardOwnership.this.context.isCoordinated() && ShardOwnership.this.owned.isHeld();
		}

	}

	/**
	 * Handles an acquired shard, turn by turn. Confined to the worker, but for
	 * {@link #offer}, {@link #movedTo} and {@link #ended}.
	 */
	sealed interface Loop permits RecordLoop, FixedShardLoop {

		/** Takes records; returns whether there is room for more. */
		boolean offer(List<SourceRecord> records);

		/** Moves the shard before the records that are offered next. */
		void movedTo(Offset after, boolean offsetsReused);

		void ended();

		/**
		 * Calls the handler and commits, for one turn at most.
		 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
		 * reply; a later turn repeats the request
		 */
		Outcome run();

		/** Processes the results of returned calls; returns whether no call runs. */
		boolean collectResults();

		/** Drops records that were read and not taken up. */
		void clear();

		enum Outcome {

			MORE,
			/** There is nothing to do until an event wakes the worker. */
			IDLE,
			/** The last record of the shard is done. */
			COMPLETED,
			/** A newer owner has acquired the shard. */
			FENCED,
			/** The checkpoint is missing and cannot be written back now. */
			CHECKPOINT_MISSING;

			/** Returns the result if the commits end the turn, otherwise {@code null}. */
			static @Nullable Outcome after(Committer.Outcome commits) {
				return switch (commits) {
					case DONE, SENT -> null;
					case FENCED -> FENCED;
					case CHECKPOINT_MISSING -> CHECKPOINT_MISSING;
				};
			}

		}

	}

}
