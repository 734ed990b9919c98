package io.github.shardkeeper.worker.call;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.handler.CallArguments;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.TimerRecord;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.commit.CallCommit;
import io.github.shardkeeper.worker.commit.CallWrites;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.record.CallEffects;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.FailureLog;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Converts the records of deliveries and calls the handler, on the worker's thread or on
 * others. Confined to the shard's worker, except for calls on other threads.
 */
public final class DeliveryCalls {

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final HandlerCalls handlerCalls;

	private final TurnWatch turns;

	private final WorkerContext context;

	private final JournaledState state;

	private final Function<Delivery, Acknowledgment> acknowledgments;

	private final boolean batch;

	private final boolean splitsAtUnreadable;

	private final Committer committer;

	/** Results of concurrent calls, in the order of their returns. */
	private final Queue<Result> returned = new ConcurrentLinkedQueue<>();

	public DeliveryCalls(OwnedShard owned, ShardHandler handler, HandlerCalls handlerCalls, TurnWatch turns,
			Committer committer, Function<Delivery, Acknowledgment> acknowledgments, boolean splitsAtUnreadable) {
		this.owned = owned;
		this.handler = handler;
		this.handlerCalls = handlerCalls;
		this.turns = turns;
		this.context = owned.context();
		this.state = committer.progress().state();
		this.acknowledgments = acknowledgments;
		this.batch = this.handler.shape() == HandlerShape.BATCH;
		this.splitsAtUnreadable = splitsAtUnreadable;
		this.committer = committer;
	}

	/** Calls the handler on this thread, while no other call for the shard runs. */
	public Result call(Delivery delivery, MonotonicTime now) {
		return call(delivery, now, false);
	}

	/**
	 * Starts a call on another thread. At its end it wakes the worker.
	 * @throws Throwable if the executor throws; then the call is never made
	 */
	public void start(Delivery delivery) throws Throwable {
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.context.executor().execute(() -> {
				if (begun.compareAndSet(false, true)) {
					this.returned.add(call(delivery, this.context.clock().now(), true));
					this.owned.wake();
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
	public @Nullable Result nextReturned() {
		return this.returned.poll();
	}

	private Result call(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		try {
			return (this.batch && !TimerRecord.isTimer(delivery.first().source()))
					? callWithAll(delivery, begun, concurrently) : callWithOne(delivery, begun, concurrently);
		}
		catch (Throwable ex) {
			// A conversion that the JVM has ended, above all: a failure of the handler.
			return notCalled(delivery, List.of(), new HandlerCalls.Result(null, ex, false), begun);
		}
	}

	private Result callWithOne(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		TrackedRecord record = delivery.first();
		int attempt = delivery.calls() + 1;
		Object converted = concurrently ? this.turns.convert(begun, () -> convert(record, attempt))
				: convert(record, attempt);
		if (converted instanceof Unreadable unreadable) {
			return notCalled(delivery, List.of(unreadable), null, begun);
		}
		return callHandler(delivery, converted, List.of(), begun, concurrently);
	}

	private Result callWithAll(Delivery delivery, MonotonicTime begun, boolean concurrently) {
		List<Unreadable> unreadable = new ArrayList<>();
		List<Object> readable = new ArrayList<>(delivery.records().size());
		for (TrackedRecord tracked : delivery.records()) {
			Object converted = convert(tracked, delivery.calls() + 1);
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
		return new Result(delivery, unreadable, call, CallEffects.NONE, begun, this.context.clock().now(),
				CallCommit.LATER);
	}

	private Result callHandler(Delivery delivery, Object converted, List<Unreadable> unreadable, MonotonicTime begun,
			boolean concurrently) {
		JournaledState seen = this.handler.takesState() ? this.state : null;
		Acknowledgment acknowledgment = this.handler.takesAcknowledgment() ? this.acknowledgments.apply(delivery)
				: null;
		CallWrites writes = CallWrites.open(this.handler, this.owned);
		CallCommit commit = this.committer.begin(delivery.records(), writes);
		CallCommit.Code code = commit
			.around((view) -> handle(converted, writes.arguments(this.owned, view, acknowledgment)));
		HandlerCalls.Result call = concurrently ? this.handlerCalls.callConcurrently(seen, begun, code)
				: this.handlerCalls.callHandler(seen, begun, code);
		writes.close();
		MonotonicTime ended = concurrently ? this.context.clock().now() : this.handlerCalls.exclusiveEnded();
		return new Result(delivery, unreadable, call, commit.uncommitted(writes), begun, ended, commit);
	}

	private void handle(Object converted, CallArguments arguments) throws Throwable {
		int skipped = this.handler.handle(converted, arguments);
		if (skipped > 0) {
			this.owned.meters().count((meters) -> meters.skipped(skipped));
		}
	}

	/** Returns the handler's argument, or an {@link Unreadable}. */
	private Object convert(TrackedRecord tracked, int attempt) {
		try {
			return convert(tracked.source(), attempt);
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

	private Object convert(SourceRecord source, int attempt) {
		long maxBytes = this.owned.settings().maxRecordBytes();
		if (source.size() > maxBytes) {
			throw new PayloadConversionException(
					"The record has %,d bytes (key, headers and payload); 'shardkeeper.max-record-size' allows %,d"
						.formatted(source.size(), maxBytes));
		}
		return this.handler.convert(this.owned, source, attempt);
	}

	/**
	 * Result of a delivery.
	 *
	 * @param unreadable its records that could not be converted
	 * @param call the result of the call, {@code null} if no call was made because of
	 * unreadable records
	 * @param effects what the call has done besides and not committed, dropped if it has
	 * failed
	 * @param commit how the call commits
	 */
	public record Result(Delivery delivery, List<Unreadable> unreadable, HandlerCalls.@Nullable Result call,
			CallEffects effects, MonotonicTime begun, MonotonicTime ended, CallCommit commit) {

		/** Returns it with a failure of its call, if that has none. */
		public Result withFailure(Throwable failure) {
			HandlerCalls.Result made = Objects.requireNonNull(this.call);
			return (made.failure() != null) ? this
					: with(new HandlerCalls.Result(made.view(), failure, made.interrupted()));
		}

		/** Returns it as a success whose changes of the state are committed already. */
		public Result committed() {
			return with(new HandlerCalls.Result(null, null, false));
		}

		private Result with(HandlerCalls.Result made) {
			return new Result(this.delivery, this.unreadable, made, this.effects, this.begun, this.ended, this.commit);
		}

	}

	public record Unreadable(TrackedRecord record, PayloadConversionException failure) {

	}

}
