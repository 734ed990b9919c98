package io.github.shardkeeper.consumer;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Hands the records of an owned shard to the handler, one after the other, and commits in
 * between. Confined to the shard's worker, but for {@link #offer}.
 */
final class RecordLoop {

	private static final Logger logger = LoggerFactory.getLogger(RecordLoop.class);

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final WorkerCourse course;

	private final WorkerTroubles troubles;

	private final ShardCalls calls;

	private final @Nullable WorkMeter meter;

	private final RecordBuffer buffer = new RecordBuffer();

	private boolean halted;

	RecordLoop(OwnedShard owned, ShardHandler handler, WorkerContext context, WorkerCourse course,
			WorkerTroubles troubles, ShardCalls calls, @Nullable WorkMeter meter) {
		this.owned = owned;
		this.handler = handler;
		this.context = context;
		this.course = course;
		this.troubles = troubles;
		this.calls = calls;
		this.meter = meter;
	}

	/** Takes records; tells whether there is room for more. */
	boolean offer(List<SourceRecord> records) {
		return this.buffer.add(records);
	}

	/** What was read and not handled is not wanted any more. */
	void clear() {
		this.buffer.clear();
	}

	/** Handles records until there are none, or a turn is over. */
	Outcome run(ShardProgress progress) {
		while (!this.halted && !this.course.leadsToEnd()) {
			MonotonicTime now = this.context.clock().now();
			if (progress.isCommitDue(now)) {
				return commit(progress, Outcome.MORE);
			}
			SourceRecord next = this.context.lease().permitsHandOut(now) ? this.buffer.peek() : null;
			if (next == null) {
				break;
			}
			Outcome handled = handle(next, progress);
			if (handled != Outcome.MORE) {
				return handled;
			}
		}
		return commit(progress, this.course.leadsToEnd() ? Outcome.MORE : Outcome.DONE);
	}

	private Outcome handle(SourceRecord source, ShardProgress progress) {
		@Nullable Object converted;
		try {
			converted = convert(source);
		}
		catch (PayloadConversionException ex) {
			halt(source, ex);
			return commit(progress, Outcome.DONE);
		}
		MonotonicTime begun = this.context.clock().now();
		if (this.meter != null) {
			this.meter.callBegins(begun);
		}
		Throwable failure = this.calls.callWhileHeld(progress,
				(view) -> this.handler.handle(converted, this.owned, view, null));
		if (this.meter != null) {
			this.meter.callEnds(begun, this.context.clock().now());
		}
		if (failure == null) {
			handled(source, begun, progress);
			return Outcome.MORE;
		}
		return failed(source, failure, progress);
	}

	private @Nullable Object convert(SourceRecord source) {
		return switch (this.handler.shape()) {
			case RECORD -> this.handler.convert(this.owned, source);
			case BATCH -> List.of(this.handler.convert(this.owned, source));
			case LOOP -> null;
		};
	}

	private void handled(SourceRecord source, MonotonicTime begun, ShardProgress progress) {
		// First of all: what follows may fail, and must not have the record handled
		// twice.
		progress.handled(source.offset(), begun);
		if (this.buffer.remove()) {
			this.context.reader().resume(this.owned.shard());
		}
		if (this.meter != null) {
			this.meter.handled();
		}
		this.troubles.callSucceeded();
		this.context.meters().handled(this.owned.shard().topic(), begun.until(this.context.clock().now()));
	}

	private Outcome failed(SourceRecord source, Throwable failure, ShardProgress progress) {
		if (!this.owned.isHeld() || this.calls.wasInterrupted()) {
			// Because the shard or the lease is lost, or was: not the record's fault.
			// Whoever interrupts wakes the worker when there is something to do.
			logger.debug("{} was interrupted at {}", this.owned, source.offset(), failure);
			return Outcome.DONE;
		}
		this.troubles.callFailed(this.handler.name() + " at offset " + source.offset(), failure);
		this.context.meters().failed(this.owned.shard().topic());
		return commit(progress, Outcome.DONE);
	}

	/** The record can never be handled: stay in front of it, visibly. */
	private void halt(SourceRecord source, PayloadConversionException failure) {
		this.halted = true;
		this.context.meters().failed(this.owned.shard().topic());
		this.troubles.heldUpBy("Halted at offset %s: %s".formatted(source.offset(), failure.getMessage()));
		logger.error("{} is halted at offset {}, which {} cannot take; no record is skipped", this.owned,
				source.offset(), this.handler.name(), failure);
	}

	private static Outcome commit(ShardProgress progress, Outcome ifCommitted) {
		return switch (progress.commit()) {
			case COMMITTED -> ifCommitted;
			case FENCED -> Outcome.FENCED;
			case NOT_YET -> Outcome.CHECKPOINT_GONE;
		};
	}

	/** How a turn has ended. */
	enum Outcome {

		/** There is more to do. */
		MORE,
		/** There is nothing to do until something happens. */
		DONE,
		/** A newer owner has acquired the shard. */
		FENCED,
		/** The checkpoint is gone, and may not be made anew now. */
		CHECKPOINT_GONE

	}

}
