package io.github.shardkeeper.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.JournaledState;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.output.CallOutput;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.MonotonicTime;

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

	/**
	 * Concurrent call that has returned last, linked to those before it. Not a queue:
	 * adding to a queue fails without memory.
	 */
	private final AtomicReference<@Nullable ConcurrentCall> lastReturned = new AtomicReference<>();

	/** Next call to process, linked to later ones. */
	private @Nullable ConcurrentCall firstReturned;

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
		ConcurrentCall call = new ConcurrentCall(delivery);
		try {
			this.context.executor().execute(call);
		}
		catch (Throwable ex) {
			// An executor that throws may still run the call, or have run it.
			if (call.begin()) {
				throw ex;
			}
		}
	}

	/** Removes the call that has returned first, {@code null} if none has. */
	@Nullable ConcurrentCall nextReturned() {
		if (this.firstReturned == null) {
			ConcurrentCall last = this.lastReturned.getAndSet(null);
			while (last != null) {
				ConcurrentCall earlier = last.neighbor;
				last.neighbor = this.firstReturned;
				this.firstReturned = last;
				last = earlier;
			}
		}
		ConcurrentCall first = this.firstReturned;
		if (first != null) {
			this.firstReturned = first.neighbor;
		}
		return first;
	}

	private Result call(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		try {
			return this.batch ? callWithAll(delivery, begun, concurrently) : callWithOne(delivery, begun, concurrently);
		}
		catch (Throwable ex) {
			// Above all, out of memory in a conversion: treated as a failure of the
			// handler. This may fail for lack of memory, too.
			return notCalled(delivery, List.of(), new HandlerCalls.Result(null, ex, false), begun);
		}
	}

	private Result callWithOne(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		Object converted = convert(delivery.first());
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
		return new Result(delivery, unreadable, call, List.of(), begun, this.context.clock().now());
	}

	private Result callHandler(Delivery delivery, Object converted, List<Unreadable> unreadable, MonotonicTime begun,
			boolean concurrently) {
		OwnedShard owned = this.scope.owned();
		JournaledState seen = this.handler.takesState() ? this.state : null;
		Acknowledgment acknowledgment = this.handler.takesAcknowledgment() ? this.results.acknowledgmentOf(delivery)
				: null;
		CallOutput output = this.handler.takesOutput() ? this.context.outputs().open() : null;
		HandlerCalls.StateCall plain = (view) -> this.handler.handle(converted, owned, view, acknowledgment, output);
		HandlerCalls.StateCall code = (this.transacted != null) ? this.transacted.transaction(delivery, plain) : plain;
		HandlerCalls.Result call = concurrently ? this.scope.calls().callConcurrently(seen, begun, code)
				: this.scope.calls().callHandler(seen, begun, code);
		if (output != null) {
			output.close();
		}
		return new Result(delivery, unreadable, call, (output != null) ? output.records() : List.of(), begun,
				this.context.clock().now());
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
		long maxBytes = this.scope.settings().maxPayloadBytes();
		if (source.size() > maxBytes) {
			throw new PayloadConversionException(
					"The payload, with key and headers, has %,d bytes, more than 'shardkeeper.consumer.max-payload-size' (%,d) permits"
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
	 * @param sends the records that the call has sent, dropped if it has failed
	 */
	record Result(Delivery delivery, List<Unreadable> unreadable, HandlerCalls.@Nullable Result call,
			List<NewRecord> sends, MonotonicTime begun, MonotonicTime ended) {

		/** Returns it with another failure of its call, {@code null} for none. */
		Result withFailure(@Nullable Throwable failure) {
			HandlerCalls.Result made = Objects.requireNonNull(this.call);
			return new Result(this.delivery, this.unreadable,
					new HandlerCalls.Result(made.view(), failure, failure != null && made.interrupted()), this.sends,
					this.begun, this.ended);
		}

	}

	record Unreadable(TrackedRecord record, PayloadConversionException failure) {

	}

	/**
	 * Calls in transactions of the application, which contain the commits of their
	 * records. Between two calls nothing is uncommitted, so the state of the shard in
	 * memory is that of the store. Confined to the shard's worker, which makes the calls
	 * itself.
	 */
	static final class Transacted {

		private final CallTransactions transactions;

		private final OwnedShard owned;

		private final WorkerContext context;

		private final ShardProgress progress;

		private final ShardCommits commits;

		/** Commit in the last transaction, {@code null} if it had none. */
		private @Nullable Commit commit;

		private CallTransactions.@Nullable Result outcome;

		/** Result of the last call until its transaction is settled. */
		private @Nullable Result unsettled;

		Transacted(CallTransactions transactions, ShardScope scope, ShardProgress progress, ShardCommits commits) {
			this.transactions = transactions;
			this.owned = scope.owned();
			this.context = scope.context();
			this.progress = progress;
			this.commits = commits;
		}

		/** Returns whether everything is committed; otherwise that becomes due. */
		boolean mayCall() {
			this.progress.commitSoon();
			return this.commits.isIdle() && this.progress.commitDue() == null;
		}

		/** Returns a call that runs another one in a transaction. */
		HandlerCalls.StateCall transaction(Delivery delivery, HandlerCalls.StateCall code) {
			return (view) -> {
				this.commit = null;
				CallTransactions.Result ended = this.transactions.call(this.owned.shard(), this.owned.token(), () -> {
					code.run(view);
					if (Thread.currentThread().isInterrupted()) {
						throw new InterruptedException("The call returned with its thread interrupted");
					}
					Commit last = this.commits.inTransaction(delivery.records(),
							(view != null) ? this.progress.state().changes(view) : Map.of());
					this.commit = last;
					return last;
				});
				this.outcome = ended;
				if (ended instanceof CallTransactions.Result.Failed failed) {
					throw failed.failure();
				}
			};
		}

		void returned(Result result) {
			this.unsettled = result;
		}

		/** Returns the last call if its transaction is not settled, else {@code null}. */
		@Nullable Result unsettled() {
			return this.unsettled;
		}

		/**
		 * Settles the last call.
		 * @return its result, with a failure of it; {@code null} if a newer owner has the
		 * shard
		 * @throws StoreUnavailableException if the call has to be repeated, or if it is
		 * not known yet whether its transaction was committed: then it stays unsettled
		 */
		@Nullable Result settle(Result result) {
			CallTransactions.Result ended = this.outcome;
			if (ended instanceof CallTransactions.Result.Unknown unknown) {
				ended = find(unknown);
			}
			this.outcome = null;
			this.unsettled = null;
			if (ended instanceof CallTransactions.Result.Unavailable unavailable) {
				throw unavailable.failure();
			}
			if (ended instanceof CallTransactions.Result.Stale) {
				return null;
			}
			if (ended instanceof CallTransactions.Result.Committed) {
				return result.withFailure(null);
			}
			HandlerCalls.Result made = result.call();
			return (ended instanceof CallTransactions.Result.Failed failed && made != null && made.failure() == null)
					? result.withFailure(failed.failure()) : result;
		}

		/** Leaves it open what became of the last call, because the shard is lost. */
		void drop() {
			if (this.outcome instanceof CallTransactions.Result.Unknown) {
				this.outcome = new CallTransactions.Result.Stale();
			}
		}

		/** Returns the commit of the last call, {@code null} if it was not written. */
		@Nullable Commit takeCommit(Result settled) {
			Commit written = (settled.call() != null && settled.call().failure() == null) ? this.commit : null;
			this.commit = null;
			return written;
		}

		/** Finds out in the store what became of a transaction without an answer. */
		private CallTransactions.Result find(CallTransactions.Result.Unknown unknown) {
			Acquisition reply = this.context.checkpoints().acquireNow(this.owned.shard(), this.owned.token());
			if (!(reply instanceof Acquisition.Acquired acquired)) {
				return new CallTransactions.Result.Stale();
			}
			Commit sent = this.commit;
			if (sent != null && acquired.lastCommit() == sent.number().attempt()) {
				return new CallTransactions.Result.Committed();
			}
			return (unknown.outage() != null) ? new CallTransactions.Result.Unavailable(unknown.outage())
					: new CallTransactions.Result.Failed(unknown.failure());
		}

	}

	/**
	 * Call on another thread. The worker always gets to know its end: that needs no
	 * memory after its creation.
	 */
	final class ConcurrentCall implements Runnable {

		private final Delivery delivery;

		private final AtomicBoolean begun = new AtomicBoolean();

		private @Nullable Result result;

		private @Nullable Throwable failure;

		private @Nullable ConcurrentCall neighbor;

		private ConcurrentCall(Delivery delivery) {
			this.delivery = delivery;
		}

		Delivery delivery() {
			return this.delivery;
		}

		/** Returns the result, {@code null} if there was no memory for one. */
		@Nullable Result result() {
			return this.result;
		}

		Throwable failure() {
			Throwable thrown = this.failure;
			if (thrown == null) {
				throw new IllegalStateException("Has a result: the delivery " + this.delivery.where());
			}
			return thrown;
		}

		/** Returns whether the call begins now; it begins only once. */
		private boolean begin() {
			return this.begun.compareAndSet(false, true);
		}

		@Override
		public void run() {
			if (!begin()) {
				return;
			}
			try {
				this.result = call(this.delivery, DeliveryCalls.this.context.clock().now(), true);
			}
			catch (Throwable ex) {
				this.failure = ex;
			}
			ConcurrentCall before;
			do {
				before = DeliveryCalls.this.lastReturned.get();
				this.neighbor = before;
			}
			while (!DeliveryCalls.this.lastReturned.compareAndSet(before, this));
			DeliveryCalls.this.scope.wake().run();
		}

	}

}
