package io.github.shardkeeper.consumer;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Calls the handler with deliveries: converts the records, measures, and tells what came
 * of it. Thread-safe.
 */
final class RecordCalls {

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final ShardCalls calls;

	private final @Nullable WorkMeter meter;

	private final Acknowledgments acknowledgments;

	private final long maxPayloadBytes;

	private final boolean batch;

	/** Whether the shard stays in front of a record that cannot be read. */
	private final boolean halts;

	RecordCalls(OwnedShard owned, ShardHandler handler, WorkerContext context, ShardCalls calls,
			@Nullable WorkMeter meter, Acknowledgments acknowledgments) {
		this.owned = owned;
		this.handler = handler;
		this.context = context;
		this.calls = calls;
		this.meter = meter;
		this.acknowledgments = acknowledgments;
		this.batch = handler.shape() == HandlerShape.BATCH;
		ConsumerSettings settings = context.settings(owned.shard().topic());
		this.halts = settings.onFailure() == ConsumerSettings.OnFailure.HALT;
		this.maxPayloadBytes = settings.maxPayloadBytes();
	}

	/** Calls on the worker's thread, while no other call for the shard runs. */
	Returned call(Delivery delivery, JournaledState state, MonotonicTime now) {
		return call(delivery, state, now, false);
	}

	/** Calls on a thread of its own. */
	Returned callBeside(Delivery delivery, JournaledState state) {
		return call(delivery, state, this.context.clock().now(), true);
	}

	private Returned call(Delivery delivery, JournaledState state, MonotonicTime begun, boolean beside) {
		try {
			return this.batch ? callWithAll(delivery, state, begun, beside)
					: callWithOnly(delivery, state, begun, beside);
		}
		catch (Throwable ex) {
			// Out of memory in a conversion, above all. Says nothing about the record: as
			// if its handler had thrown it. There may be no memory for this either.
			return notMade(delivery, List.of(), new ShardCalls.Result(null, ex, false), begun);
		}
	}

	private Returned callWithOnly(Delivery delivery, JournaledState state, MonotonicTime begun, boolean beside) {
		Object converted = convert(delivery.first());
		if (converted instanceof Unreadable unreadable) {
			return notMade(delivery, List.of(unreadable), null, begun);
		}
		return make(delivery, converted, List.of(), state, begun, beside);
	}

	private Returned callWithAll(Delivery delivery, JournaledState state, MonotonicTime begun, boolean beside) {
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
		if (readable.isEmpty() || this.halts && !unreadable.isEmpty()) {
			return notMade(delivery, unreadable, null, begun);
		}
		return make(delivery, readable, unreadable, state, begun, beside);
	}

	private Returned notMade(Delivery delivery, List<Unreadable> unreadable, ShardCalls.@Nullable Result result,
			MonotonicTime begun) {
		return new Returned(delivery, unreadable, result, begun, this.context.clock().now());
	}

	private Returned make(Delivery delivery, Object converted, List<Unreadable> unreadable, JournaledState state,
			MonotonicTime begun, boolean beside) {
		if (this.meter != null) {
			this.meter.callBegins(begun);
		}
		JournaledState seen = this.handler.takesState() ? state : null;
		Acknowledgment acknowledgment = this.handler.takesAcknowledgment() ? this.acknowledgments.of(delivery) : null;
		ShardCalls.StateCall code = (view) -> this.handler.handle(converted, this.owned, view, acknowledgment);
		ShardCalls.Result result = beside ? this.calls.callBeside(seen, begun, code)
				: this.calls.callWhileHeld(seen, begun, code);
		MonotonicTime ended = this.context.clock().now();
		if (this.meter != null) {
			this.meter.callEnds(ended);
		}
		return new Returned(delivery, unreadable, result, begun, ended);
	}

	/** What the handler takes, or an {@link Unreadable}. */
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
			// From the application's own deserializer, converter or constructor.
			Throwable printable = PrintableFailure.of(ex);
			return new Unreadable(tracked,
					new PayloadConversionException("The payload cannot be converted: " + printable, printable));
		}
	}

	private Object convert(SourceRecord source) {
		if (source.size() > this.maxPayloadBytes) {
			throw new PayloadConversionException(
					"The payload, with key and headers, has %,d bytes, more than 'shardkeeper.consumer.max-payload-size' (%,d) permits"
						.formatted(source.size(), this.maxPayloadBytes));
		}
		return this.handler.convert(this.owned, source);
	}

	/**
	 * A call that is over, or was not made because nothing could be read.
	 *
	 * @param delivery what was to be handled
	 * @param unreadable records of it that were not
	 * @param result what came of the call, {@code null} if there was none
	 * @param begun when it began
	 * @param ended when it was over
	 */
	record Returned(Delivery delivery, List<Unreadable> unreadable, ShardCalls.@Nullable Result result,
			MonotonicTime begun, MonotonicTime ended) {

	}

	/**
	 * A record that the handler cannot take.
	 *
	 * @param record the record
	 * @param failure why
	 */
	record Unreadable(TrackedRecord record, PayloadConversionException failure) {

	}

}
