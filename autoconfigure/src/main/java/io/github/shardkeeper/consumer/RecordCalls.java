package io.github.shardkeeper.consumer;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
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

	RecordCalls(OwnedShard owned, ShardHandler handler, WorkerContext context, ShardCalls calls,
			@Nullable WorkMeter meter, Acknowledgments acknowledgments) {
		this.owned = owned;
		this.handler = handler;
		this.context = context;
		this.calls = calls;
		this.meter = meter;
		this.acknowledgments = acknowledgments;
		this.batch = handler.shape() == HandlerShape.BATCH;
		this.maxPayloadBytes = context.settings(owned.shard().topic()).maxPayloadBytes();
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
		if (this.batch) {
			List<Unreadable> unreadable = new ArrayList<>();
			List<Object> converted = convertAll(delivery, unreadable);
			return converted.isEmpty() ? notMade(delivery, unreadable, begun)
					: make(delivery, converted, unreadable, state, begun, beside);
		}
		TrackedRecord only = delivery.first();
		Object converted;
		try {
			converted = convert(only.source());
		}
		catch (PayloadConversionException ex) {
			return notMade(delivery, List.of(new Unreadable(only, ex)), begun);
		}
		return make(delivery, converted, List.of(), state, begun, beside);
	}

	private Returned notMade(Delivery delivery, List<Unreadable> unreadable, MonotonicTime begun) {
		return new Returned(delivery, unreadable, null, begun, this.context.clock().now());
	}

	private Returned make(Delivery delivery, Object converted, List<Unreadable> unreadable, JournaledState state,
			MonotonicTime begun, boolean beside) {
		if (this.meter != null) {
			this.meter.callBegins(begun);
		}
		JournaledState seen = this.handler.takesState() ? state : null;
		Acknowledgment acknowledgment = this.handler.takesAcknowledgment() ? this.acknowledgments.of(delivery) : null;
		ShardCalls.StateCall code = (view) -> this.handler.handle(converted, this.owned, view, acknowledgment);
		ShardCalls.Result result = beside ? this.calls.callBeside(seen, code) : this.calls.callWhileHeld(seen, code);
		MonotonicTime ended = this.context.clock().now();
		if (this.meter != null) {
			this.meter.callEnds(ended);
		}
		return new Returned(delivery, unreadable, result, begun, ended);
	}

	private List<Object> convertAll(Delivery delivery, List<Unreadable> unreadable) {
		List<Object> converted = new ArrayList<>(delivery.records().size());
		for (TrackedRecord tracked : delivery.records()) {
			try {
				converted.add(convert(tracked.source()));
			}
			catch (PayloadConversionException ex) {
				unreadable.add(new Unreadable(tracked, ex));
			}
		}
		return converted;
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
