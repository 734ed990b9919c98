package io.github.shardkeeper.worker;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.checkpoint.StateView;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Consumes an acquired shard until its last commit: calls the assigned callback, reads,
 * handles, calls the revocation callback.
 * <p>
 * There is mostly one for a token. After a seek the shard is acquired again under the
 * same token, and a new ownership shares nothing with the one before but the numbers of
 * the commits: late records from the reader and late acknowledgments reach nobody.
 * Confined to the shard's worker, but for the sink of records.
 */
final class ShardOwnership {

	private static final Logger logger = LoggerFactory.getLogger(ShardOwnership.class);

	private final ShardScope scope;

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final ShardProgress progress;

	private final ShardCommits commits;

	private final Loop loop;

	/** Whether the assigned callback has returned. */
	private boolean started;

	private boolean reading;

	private boolean readingStopped;

	private boolean endReported;

	/** Whether the revocation callback has returned. */
	private boolean revoked;

	/** Whether it was interrupted, and is called once more. */
	private boolean revocationRepeated;

	/**
	 * Creates the ownership of a shard that was acquired.
	 * @param earlier commits under the same token before a seek, {@code null} if there
	 * are none
	 */
	ShardOwnership(ShardScope scope, Acquisition.Acquired acquired, @Nullable ShardCommits earlier) {
		this.scope = scope;
		this.owned = scope.owned();
		this.handler = scope.handler();
		this.context = scope.context();
		this.progress = new ShardProgress(acquired, scope);
		this.commits = new ShardCommits(acquired, earlier, this.progress, scope);
		this.loop = (this.handler.shape() == HandlerShape.LOOP) ? new CallLoop(scope, this.progress, this.commits)
				: new RecordLoop(scope, this.progress, this.commits);
	}

	ShardProgress progress() {
		return this.progress;
	}

	ShardCommits commits() {
		return this.commits;
	}

	/** Returns whether the shard is consumed, or was. */
	boolean isReading() {
		return this.reading;
	}

	/** Returns whether a last commit is needed: the application has seen the shard. */
	boolean isStarted() {
		return this.started;
	}

	/** Calls the assigned callback and begins to read, as far as it gets. */
	void start() {
		if (this.started || callAssigned()) {
			read();
		}
	}

	/** Calls the assigned callback; when it throws, it is called again later. */
	private boolean callAssigned() {
		HandlerCalls.Result result = this.scope.calls()
			.callbackWhileHeld(this.progress.state(),
					(view) -> this.handler.assigned(this.owned, Objects.requireNonNull(view)));
		if (result.failure() != null) {
			if (this.owned.isHeld() && !result.interrupted()) {
				this.scope.problems().callbackFailed("@OnShardAssigned", result.failure());
			}
			return false;
		}
		keepChanges(result);
		this.scope.problems().callSucceeded();
		this.started = true;
		return true;
	}

	private void read() {
		logger.debug("Consuming {} after {} under token {}", this.owned, this.progress.begin(), this.owned.token());
		if (this.handler.shape() != HandlerShape.LOOP) {
			// If this throws it is done again; if what follows does, there are records.
			this.context.reader().start(this.owned.shard(), this.progress.begin(), new Sink());
		}
		this.reading = true;
		this.context.events().assigned(this.owned);
	}

	/** Handles the shard for a turn. Only while {@link #isReading}. */
	Loop.Outcome run() {
		return this.loop.run();
	}

	/**
	 * Stops reading and returns whether no call runs any more. Calls that run wake the
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
	 * Calls the revocation callback, once, and once more if it was interrupted: nobody
	 * else can do what it leaves undone.
	 * @return whether it is over; otherwise the lease has ended, and whoever holds it
	 * again wakes the worker
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
			HandlerCalls.Result result = this.scope.calls()
				.callback(this.progress.state(),
						(view) -> this.handler.revoked(this.owned, Objects.requireNonNull(view)));
			// The callback may have acknowledged records.
			this.loop.collectResults();
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
			// It may build on what they wrote, and they will write that again. And what
			// is acknowledged during the last commit must not be written over it.
			logger.warn("What @OnShardRevoked wrote to the state of {} is dropped: records were handled and not "
					+ "acknowledged, and it builds on what they wrote. Acknowledge them before it returns, or write "
					+ "no state in it", this.owned);
			return;
		}
		keepChanges(result);
	}

	/** Commits what a callback wrote to the state with what comes next. */
	private void keepChanges(HandlerCalls.Result result) {
		StateView view = Objects.requireNonNull(result.view());
		// No other call runs, so nothing that it has read was changed.
		JournaledState.Changes changes = Objects.requireNonNull(this.progress.state().add(view));
		this.progress.stateChanged(changes, this.context.clock().now());
	}

	/** Reports the end, if the beginning was reported. */
	void end() {
		if (this.reading && !this.endReported) {
			this.endReported = true;
			this.context.events().revoked(this.owned, this.owned.isLost());
		}
	}

	/** Takes the reader's records. Thread-safe. */
	private final class Sink implements ShardReader.RecordSink {

		@Override
		public boolean offer(List<SourceRecord> records) {
			boolean hasRoom = ShardOwnership.this.loop.offer(records);
			ShardOwnership.this.scope.wake().run();
			return hasRoom;
		}

		@Override
		public void ended() {
			ShardOwnership.this.loop.ended();
			ShardOwnership.this.scope.wake().run();
		}

	}

	/**
	 * Handles an acquired shard, turn by turn. Confined to the worker, but for
	 * {@link #offer} and {@link #ended}.
	 */
	sealed interface Loop permits RecordLoop, CallLoop {

		/** Takes records; returns whether there is room for more. */
		boolean offer(List<SourceRecord> records);

		/** Marks the shard as one that gets no further records. */
		void ended();

		/**
		 * Does what there is to do, until there is nothing or a turn is over.
		 * @throws io.github.shardkeeper.StoreUnavailableException when the store does not
		 * answer; to be run again
		 */
		Outcome run();

		/**
		 * Processes the results of calls that have returned, begins no further one, and
		 * returns whether none runs any more.
		 */
		boolean collectResults();

		/** Drops what was read and not taken up. */
		void clear();

		/** Result of a turn. */
		enum Outcome {

			/** There is more to do. */
			MORE,
			/** There is nothing to do until something happens. */
			IDLE,
			/** The last record that the shard will ever have is done. */
			COMPLETED,
			/** A newer owner has acquired the shard. */
			FENCED,
			/** The checkpoint is gone, and may not be written back now. */
			CHECKPOINT_MISSING;

			/** Returns the end of a turn that commits ask for, {@code null} for none. */
			static @Nullable Outcome after(ShardCommits.Outcome commits) {
				return switch (commits) {
					case DONE, SENT -> null;
					case FENCED -> FENCED;
					case CHECKPOINT_MISSING -> CHECKPOINT_MISSING;
				};
			}

		}

	}

}
