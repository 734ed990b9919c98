package io.github.shardkeeper.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.CommitTurn;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.StateView;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.output.CallOutput;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerSettings.Ordering;

/**
 * Converts the records of deliveries and calls the handler, on the worker's thread or on
 * others. Confined to the shard's worker, except for calls on other threads.
 */
final class DeliveryCalls {

	private final ShardScope scope;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final JournaledState state;

	private final DeliveryResults results;

	private final boolean batch;

	private final boolean splitsAtUnreadable;

	private final @Nullable Transacted transacted;

	/** Results of concurrent calls, in the order of their returns. */
	private final Queue<Result> returned = new ConcurrentLinkedQueue<>();

	DeliveryCalls(ShardScope scope, JournaledState state, DeliveryResults results, @Nullable Transacted transacted) {
		this.scope = scope;
		this.handler = scope.handler();
		this.context = scope.context();
		this.state = state;
		this.results = results;
		this.batch = this.handler.shape() == HandlerShape.BATCH;
		this.splitsAtUnreadable = transacted != null || new FailurePolicy(scope.settings()).splitsAtUnreadable();
		this.transacted = transacted;
	}

	/** Calls the handler on this thread, while no other call for the shard runs. */
	Result call(Delivery delivery, MonotonicTime now) {
		return call(delivery, now, false);
	}

	/**
	 * Starts a call on another thread. At its end it wakes the worker.
	 * @throws Throwable if the executor throws; then the call is never made
	 */
	void start(Delivery delivery) throws Throwable {
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.context.executor().execute(() -> {
				if (begun.compareAndSet(false, true)) {
					this.returned.add(call(delivery, this.context.clock().now(), true));
					this.scope.wake().run();
				}
			});
		}
		catch (Throwable ex) {
			// An executor that throws may still run the call, or have run it.
			if (begun.compareAndSet(false, true)) {
				throw ex;
			}
		}
	}

	/** Removes the result of the call that has returned first, {@code null} for none. */
	@Nullable Result nextReturned() {
		return this.returned.poll();
	}

	private Result call(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		try {
			return this.batch ? callWithAll(delivery, begun, concurrently) : callWithOne(delivery, begun, concurrently);
		}
		catch (Throwable ex) {
			// A conversion that the JVM has ended, above all: a failure of the handler.
			return notCalled(delivery, List.of(), new HandlerCalls.Result(null, ex, false), begun);
		}
	}

	private Result callWithOne(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		TrackedRecord record = delivery.first();
		Object converted = concurrently ? this.scope.turns().convert(begun, () -> convert(record)) : convert(record);
		if (converted instanceof Unreadable unreadable) {
			return notCalled(delivery, List.of(unreadable), null, begun);
		}
		return callHandler(delivery, converted, List.of(), begun, concurrently);
	}

	private Result callWithAll(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		List<Unreadable> unreadable = new ArrayList<>();
		List<Object> readable = new ArrayList<>(delivery.records().size());
		for (TrackedRecord tracked : delivery.records()) {
			Object converted = convert(tracked);
			if (converted instanceof Unreadable one) {
				unreadable.add(one);
			}
			else {
				readable.add(converted);
			}
		}
		if (readable.isEmpty() || this.splitsAtUnreadable && !unreadable.isEmpty()) {
			return notCalled(delivery, unreadable, null, begun);
		}
		return callHandler(delivery, readable, unreadable, begun, concurrently);
	}

	private Result notCalled(Delivery delivery, List<Unreadable> unreadable, HandlerCalls.@Nullable Result call,
			MonotonicTime begun) {
		return new Result(delivery, unreadable, call, List.of(), begun, this.context.clock().now(), null);
	}

	private Result callHandler(Delivery delivery, Object converted, List<Unreadable> unreadable, MonotonicTime begun,
			boolean concurrently) {
		OwnedShard owned = this.scope.owned();
		JournaledState seen = this.handler.takesState() ? this.state : null;
		Acknowledgment acknowledgment = this.handler.takesAcknowledgment() ? this.results.acknowledgmentOf(delivery)
				: null;
		CallOutput output = this.handler.takesOutput() ? this.context.outputs().open() : null;
		HandlerCalls.StateCall plain = (view) -> this.handler.handle(converted, owned, view, acknowledgment, output);
		Transacted.Attempt attempt = (this.transacted != null) ? this.transacted.attempt(delivery, output) : null;
		HandlerCalls.StateCall code = (attempt != null) ? (view) -> attempt.run(view, plain) : plain;
		HandlerCalls.Result call = concurrently ? this.scope.calls().callConcurrently(seen, begun, code)
				: this.scope.calls().callHandler(seen, begun, code);
		if (output != null) {
			output.close();
		}
		List<NewRecord> sends = (output != null && attempt == null) ? output.records() : List.of();
		MonotonicTime ended = concurrently ? this.context.clock().now() : this.scope.calls().exclusiveEnded();
		return new Result(delivery, unreadable, call, sends, begun, ended, attempt);
	}

	/** Returns the handler's argument, or an {@link Unreadable}. */
	private Object convert(TrackedRecord tracked) {
		try {
			return convert(tracked.source());
		}
		catch (PayloadConversionException ex) {
			return new Unreadable(tracked, ex);
		}
		catch (VirtualMachineError ex) {
			throw ex;
		}
		catch (Throwable ex) {
			// From a deserializer, converter or constructor of the application.
			Throwable printable = FailureLog.printable(ex);
			return new Unreadable(tracked,
					new PayloadConversionException("The payload cannot be converted: " + printable, printable));
		}
	}

	private Object convert(SourceRecord source) {
		long maxBytes = this.scope.settings().maxRecordBytes();
		if (source.size() > maxBytes) {
			throw new PayloadConversionException(
					"The record has %,d bytes (key, headers and payload); 'shardkeeper.max-record-size' allows %,d"
						.formatted(source.size(), maxBytes));
		}
		return this.handler.convert(this.scope.owned(), source);
	}

	/**
	 * Result of a delivery.
	 *
	 * @param unreadable its records that could not be converted
	 * @param call the result of the call, {@code null} if no call was made because of
	 * unreadable records
	 * @param sends the records that the call has sent, dropped if it has failed; none if
	 * it is in a transaction, which has committed them
	 * @param attempt the transaction of the call, {@code null} if it has none
	 */
	record Result(Delivery delivery, List<Unreadable> unreadable, HandlerCalls.@Nullable Result call,
			List<NewRecord> sends, MonotonicTime begun, MonotonicTime ended, Transacted.@Nullable Attempt attempt) {

		/** Returns it with a failure of its call, if that has none. */
		Result withFailure(Throwable failure) {
			HandlerCalls.Result made = Objects.requireNonNull(this.call);
			return (made.failure() != null) ? this
					: with(new HandlerCalls.Result(made.view(), failure, made.interrupted()));
		}

		/** Returns it as a success whose changes of the state are committed already. */
		Result committed() {
			return with(new HandlerCalls.Result(null, null, false));
		}

		private Result with(HandlerCalls.Result made) {
			return new Result(this.delivery, this.unreadable, made, this.sends, this.begun, this.ended, this.attempt);
		}

	}

	record Unreadable(TrackedRecord record, PayloadConversionException failure) {

	}

	/**
	 * Calls in transactions of the application, which contain the commits of their
	 * records. With the ordering {@code shard}, nothing is uncommitted between two calls.
	 * Otherwise calls of several keys have open transactions; they commit one after the
	 * other, each with the turn, and each commits what the worker has published, too.
	 * Confined to the shard's worker, except for {@link Attempt}.
	 */
	static final class Transacted {

		private final CallTransactions transactions;

		private final OwnedShard owned;

		private final WorkerContext context;

		private final ShardProgress progress;

		private final ShardCommits commits;

		private final boolean inOrder;

		private final CommitTurn turn = new CommitTurn();

		/** Result whose transaction has had no answer. It keeps the turn. */
		private @Nullable Result unsettled;

		Transacted(CallTransactions transactions, ShardScope scope, ShardProgress progress, ShardCommits commits) {
			this.transactions = transactions;
			this.owned = scope.owned();
			this.context = scope.context();
			this.progress = progress;
			this.commits = commits;
			this.inOrder = scope.settings().ordering() == Ordering.SHARD;
		}

		/**
		 * Returns whether a call may begin; what has to be committed before becomes due.
		 */
		boolean mayCall() {
			if (this.unsettled != null) {
				return false;
			}
			if (this.inOrder && !this.progress.hasOnlyForwarded() || this.progress.mustCommitAlone()) {
				this.progress.commitSoon();
				return this.commits.isIdle() && this.progress.commitDue() == null;
			}
			return this.commits.isIdle();
		}

		/** Lets running calls commit what is uncommitted. */
		void publish() {
			if (this.progress.commitDue() != null && !this.progress.mustCommitAlone()) {
				this.progress.publish();
			}
		}

		/** Takes back what no call has committed. Only while none runs. */
		void withdraw() {
			this.progress.withdraw();
		}

		/** Returns the last call if its transaction is not settled, else {@code null}. */
		@Nullable Result unsettled() {
			return this.unsettled;
		}

		private Attempt attempt(Delivery delivery, @Nullable CallOutput output) {
			return new Attempt(delivery, output);
		}

		/**
		 * Returns what became of the transaction of a call, {@code null} if it has not
		 * begun.
		 * @throws StoreUnavailableException if it is not known yet: then it is
		 * {@link #unsettled()}
		 */
		CallTransactions.@Nullable Result settle(Result result) {
			Attempt attempt = Objects.requireNonNull(result.attempt());
			if (attempt.ended instanceof CallTransactions.Result.Unknown unknown) {
				this.unsettled = result;
				attempt.settled(this.owned.isLost() ? new CallTransactions.Result.Stale() : find(attempt, unknown));
				this.unsettled = null;
			}
			return attempt.ended;
		}

		/** Finds out in the store what became of a transaction without an answer. */
		private CallTransactions.Result find(Attempt attempt, CallTransactions.Result.Unknown unknown) {
			Acquisition reply = this.context.checkpoints().acquireNow(this.owned.shard(), this.owned.token());
			if (!(reply instanceof Acquisition.Acquired acquired)) {
				return new CallTransactions.Result.Stale();
			}
			if (acquired.lastCommit() == attempt.commit().number().attempt()) {
				return new CallTransactions.Result.Committed();
			}
			return unknown.connectionLost() ? new CallTransactions.Result.ConnectionLost(unknown.failure())
					: new CallTransactions.Result.Failed(unknown.failure());
		}

		/** Processes on the worker that the transaction of a call was committed. */
		void processCommitted(Attempt attempt) {
			this.commits.processWritten(attempt.commit(), attempt.failed);
		}

		/**
		 * A call in a transaction. Confined to the thread of the call, and then to the
		 * worker.
		 */
		final class Attempt {

			private final Delivery delivery;

			private final @Nullable CallOutput output;

			private boolean hasTurn;

			/** What it has taken to commit it, {@code null} for nothing. */
			private ShardProgress.@Nullable Published taken;

			/** What it adds to the outbox of the shard, and removes from it. */
			private Outbox.Changes sent = Outbox.Changes.NONE;

			private CommitPart.Added failed = CommitPart.Added.NOTHING;

			private @Nullable Commit commit;

			/** Why it could not commit, though it may be repeated. */
			private @Nullable StoreUnavailableException refused;

			private boolean outdated;

			private CallTransactions.@Nullable Result ended;

			private Attempt(Delivery delivery, @Nullable CallOutput output) {
				this.delivery = delivery;
				this.output = output;
			}

			/**
			 * Returns whether its state was changed by another call before its commit.
			 */
			boolean isOutdated() {
				return this.outdated;
			}

			private Commit commit() {
				return Objects.requireNonNull(this.commit);
			}

			private void run(@Nullable StateView view, HandlerCalls.StateCall code) throws Throwable {
				Transacted shard = Transacted.this;
				CallTransactions.Result result = null;
				try {
					result = shard.transactions.call(shard.owned.shard(), shard.owned.token(),
							new CallTransactions.Call() {

								@Override
								public void run() throws Throwable {
									code.run(view);
									if (Thread.currentThread().isInterrupted()) {
										throw new InterruptedException("The call returned with its thread interrupted");
									}
								}

								@Override
								public Commit commit() throws InterruptedException {
									return prepare(view);
								}

								@Override
								public Runnable savepoint() {
									return takesBack(view);
								}

							});
				}
				finally {
					settled((this.refused != null) ? new CallTransactions.Result.Unavailable(this.refused) : result);
				}
				if (this.ended instanceof CallTransactions.Result.Failed failed) {
					throw failed.failure();
				}
			}

			private Runnable takesBack(@Nullable StateView view) {
				Runnable state = (view != null) ? view.savepoint() : () -> {
				};
				Runnable sent = (this.output != null) ? this.output.savepoint() : () -> {
				};
				return () -> {
					state.run();
					sent.run();
				};
			}

			/** Takes the turn, and returns what it is to write. */
			private Commit prepare(@Nullable StateView view) throws InterruptedException {
				ShardProgress progress = Transacted.this.progress;
				takeTurn();
				Map<String, @Nullable String> changes = (view != null) ? progress.state().changes(view) : Map.of();
				if (changes == null) {
					this.outdated = true;
					throw new IllegalStateException("Another call has changed the state that this one has read");
				}
				ShardProgress.Published published = progress.takePublished();
				this.taken = published;
				Commit.Builder commit = Transacted.this.commits
					.inTransaction(published.window().positionAfter(this.delivery.records()));
				this.failed = withOwn(published.failed()).addTo(commit, progress.failed());
				this.sent = progress.outbox().prepareForCall(takeOutput());
				Commit last = commit.changes(changes).outbox(this.sent).build();
				this.commit = last;
				return last;
			}

			/** What is sent later, by listeners of the transaction, would be lost. */
			private List<NewRecord> takeOutput() {
				CallOutput taken = this.output;
				if (taken == null) {
					return List.of();
				}
				taken.close();
				return taken.records();
			}

			/** Returns changes with the records of the retry queue that it removes. */
			private FailedRecords.Changes withOwn(FailedRecords.Changes published) {
				FailedRecords.Changes own = null;
				for (TrackedRecord record : this.delivery.records()) {
					if (record.isOfQueue()) {
						own = (own != null) ? own : new FailedRecords.Changes();
						own.remove(record.offset());
					}
				}
				return (own != null) ? own.after(published) : published;
			}

			private void takeTurn() throws InterruptedException {
				this.hasTurn = Transacted.this.turn.take(Transacted.this.transactions.lockWait());
				if (!this.hasTurn) {
					this.refused = new StoreUnavailableException(
							"Another call for this shard has not committed within %d s, or it is not known whether it has; the call is repeated"
								.formatted(Transacted.this.transactions.lockWait().toSeconds()),
							null);
					throw this.refused;
				}
			}

			/** Processes what became of the transaction; keeps the turn if unknown. */
			private void settled(CallTransactions.@Nullable Result result) {
				this.ended = result;
				if (!this.hasTurn) {
					return;
				}
				if (result instanceof CallTransactions.Result.Unknown) {
					Transacted.this.turn.keep();
					return;
				}
				if (result instanceof CallTransactions.Result.Committed) {
					Transacted.this.commits.writtenInTransaction(commit());
					Transacted.this.progress.state().committed(commit().changes());
					Transacted.this.progress.outbox().writtenByCall(this.sent);
					this.delivery.records().forEach(TrackedRecord::written);
				}
				else if (this.taken != null) {
					Transacted.this.progress.giveBack(this.taken);
					Transacted.this.progress.outbox().notWrittenByCall(this.sent);
				}
				this.hasTurn = false;
				Transacted.this.turn.giveBack();
			}

		}

	}

}
