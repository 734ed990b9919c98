package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.PayloadConversionException;

/**
 * What holds a worker up, and until when it waits for another attempt. Confined to the
 * worker, but for {@link #current()} and {@link #noThread}.
 */
final class WorkerTroubles {

	private static final Logger logger = LoggerFactory.getLogger(WorkerTroubles.class);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	/** Longer than between two attempts. */
	private static final Duration SAME_REFUSAL = Duration.ofSeconds(10);

	private final OwnedShard owned;

	private final WorkerContext context;

	private final Runnable wake;

	private final WakeTimer alarm;

	private final Duration longCall;

	private final FailureBackOff backOff = new FailureBackOff();

	/** What holds the record or the start up; stays until a call succeeds. */
	private volatile @Nullable Problem problem;

	/** What failed around it, above all the store; gone with the next turn that works. */
	private volatile @Nullable String turnProblem;

	/** What the store has refused last, and when. */
	private @Nullable String refused;

	private @Nullable MonotonicTime refusedAt;

	private @Nullable MonotonicTime notBefore;

	/**
	 * Begins without trouble.
	 * @param wake wakes the worker for another attempt
	 */
	WorkerTroubles(OwnedShard owned, WorkerContext context, Runnable wake) {
		this.owned = owned;
		this.context = context;
		this.wake = wake;
		this.alarm = new WakeTimer(context.timer(), wake);
		this.longCall = context.settings(owned.shard().topic()).longCall();
	}

	/**
	 * What holds the worker up now. A call that is made again is nothing that anybody has
	 * to look at, unless that takes as long as no call should.
	 */
	@Nullable ShardProblem current(MonotonicTime now) {
		String passing = this.turnProblem;
		if (passing != null) {
			return ShardProblem.alarm(passing);
		}
		Problem current = this.problem;
		if (current == null) {
			return null;
		}
		MonotonicTime retriedSince = current.retriedSince();
		return new ShardProblem(current.text(),
				retriedSince == null || retriedSince.until(now).compareTo(this.longCall) > 0);
	}

	/** Something holds the worker up that ends with the next call that succeeds. */
	void heldUpBy(String problem) {
		this.problem = new Problem(problem, null);
	}

	void callSucceeded() {
		this.backOff.reset();
		if (this.problem != null) {
			this.problem = null;
		}
	}

	/** A callback has failed; the worker pauses. */
	void callbackFailed(String what, Throwable failure) {
		Duration pause = this.backOff.next();
		logRetry(what, what, failure, pause);
		heldUpBy("%s keeps failing: %s".formatted(what, failure));
		retryAfter(pause);
	}

	/** A call has failed, and is made again after a pause; other work goes on. */
	void callFailed(String handlerName, String where, Throwable failure, Duration pause) {
		String what = (handlerName + " " + where).strip();
		logRetry(handlerName, what, failure, pause);
		Problem before = this.problem;
		MonotonicTime since = (before != null) ? before.retriedSince() : null;
		this.problem = new Problem("%s keeps failing: %s".formatted(what, failure),
				(since != null) ? since : this.context.clock().now());
	}

	private void logRetry(String kind, String what, Throwable failure, Duration pause) {
		this.context.failures()
			.log(Level.WARN, kind,
					"%s failed for %s; trying again in %d ms".formatted(what, this.owned, pause.toMillis()), failure);
	}

	/** The shard stays in front of a record as long as that cannot be converted. */
	void haltedByConversions(Offset offset, int inARow, Duration pause, Throwable failure) {
		String text = ("Halted at offset %s: %d records in a row could not be converted; the last failure: %s. "
				+ "Correct the handler's payload type or the converter and restart; or, if the records are wrong, set "
				+ "'shardkeeper.topics.%s.consumer.max-conversion-failures' to 0, and they become dead letters. "
				+ "The record is retried every %d s")
			.formatted(offset, inARow, failure.getMessage(), this.owned.shard().topic(), pause.toSeconds());
		heldUpBy(text);
		this.context.failures().logEach(Level.ERROR, "%s is held up. %s".formatted(this.owned, text), failure);
	}

	/** The shard stays in front of a record. */
	void haltedAt(Offset offset, String handlerName, Throwable failure) {
		heldUpBy("Halted at offset %s: %s".formatted(offset,
				(failure instanceof PayloadConversionException) ? failure.getMessage() : failure));
		this.context.failures()
			.logEach(Level.ERROR, "%s is halted at offset %s, which %s cannot handle; no record is skipped"
				.formatted(this.owned, offset, handlerName), failure);
	}

	void turnSucceeded() {
		this.turnProblem = null;
	}

	void storeFailed(StoreUnavailableException failure) {
		String text = "The store cannot be used: " + failure.getMessage();
		// Of a store that is away the coordinator tells; this may concern one shard.
		if (failure.isRefusal()) {
			tell(text);
		}
		this.turnProblem = text;
		retryAfter(STORE_RETRY_PAUSE);
	}

	/** Once, however often it is tried; turns in between, which only send, succeed. */
	private void tell(String refusal) {
		MonotonicTime now = this.context.clock().now();
		boolean told = refusal.equals(this.refused) && this.refusedAt != null
				&& this.refusedAt.until(now).compareTo(SAME_REFUSAL) < 0;
		if (!told) {
			logger.warn("{} is held up; trying on. {}", this.owned, refusal);
		}
		this.refused = refusal;
		this.refusedAt = now;
	}

	/** The store has no checkpoint to write to, and none could be made yet. */
	void checkpointGone() {
		this.turnProblem = "The store was emptied; offset and state are written back once the lease is held";
		if (this.owned.isHeld()) {
			retryAfter(STORE_RETRY_PAUSE);
		}
	}

	void unexpected(Throwable failure) {
		try {
			logger.error("Unexpected failure while consuming {}; continuing", this.owned, failure);
			this.turnProblem = "Unexpected failure: " + PrintableFailure.of(failure);
		}
		finally {
			retryAfter(this.backOff.next());
		}
	}

	void noThread(Throwable refusal) {
		if (this.context.timer().isShutdown()) {
			// All workers have ended, so whatever woke this one comes too late.
			return;
		}
		this.context.timer().schedule(this.wake, STORE_RETRY_PAUSE.toNanos(), TimeUnit.NANOSECONDS);
		this.turnProblem = "No thread is available: " + refusal;
		logger.warn("No thread for {}; trying again in {} ms", this.owned, STORE_RETRY_PAUSE.toMillis(), refusal);
	}

	/** Whether the pause after a failure is over. */
	boolean permitAttempt(MonotonicTime now) {
		if (this.notBefore != null && now.isBefore(this.notBefore)) {
			// Whatever woke it may not be the alarm, which could not be set perhaps.
			this.alarm.wakeAt(this.notBefore, now);
			return false;
		}
		this.notBefore = null;
		return true;
	}

	void clear() {
		this.problem = null;
		this.turnProblem = null;
	}

	private void retryAfter(Duration pause) {
		MonotonicTime now = this.context.clock().now();
		MonotonicTime retryAt = now.plus(pause);
		// A handler's longer pause is not cut short by a store that fails meanwhile.
		this.notBefore = (this.notBefore != null && retryAt.isBefore(this.notBefore)) ? this.notBefore : retryAt;
		this.alarm.wakeAt(retryAt, now);
	}

	/**
	 * What holds the record or the start up.
	 *
	 * @param text a sentence
	 * @param retriedSince since when a call is made again and again because of it,
	 * {@code null} if none is
	 */
	private record Problem(String text, @Nullable MonotonicTime retriedSince) {

	}

}
