package io.github.shardkeeper.worker.failure;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.WakeTimer;
import io.github.shardkeeper.schedule.NoNextRunException;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.text.FailureText;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.call.TurnWatch;
import io.github.shardkeeper.worker.retry.RetryQueue;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.FailureLog;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Problems that keep a shard from being consumed or handed over, and the pauses after
 * them. Confined to the shard's worker, except for {@link #current()},
 * {@link #reportOverdueDrain} and {@link #noThread}.
 */
public final class ShardProblems {

	private static final Logger logger = PrintableLogger.of(ShardProblems.class);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	/** Period in which the same refusal is logged once. */
	private static final Duration SAME_REFUSAL = Duration.ofSeconds(10);

	private static final Duration LONG_DRAIN = Duration.ofSeconds(5);

	/** Difference that may be between the clocks of two instances. */
	private static final Duration SAME_TIME = Duration.ofSeconds(1);

	/** A clock that is further behind does not catch up soon. */
	private static final Duration WRONG_CLOCK = Duration.ofMinutes(1);

	private static final int FRAMES_IN_PROBLEM = 3;

	/** Frames below this class are not the application's. */
	private static final String OUR_CALL = ShardHandler.class.getName();

	private final OwnedShard owned;

	private final String handlerName;

	private final WorkerContext context;

	private final HandlerCalls calls;

	private final TurnWatch turns;

	private final WakeTimer timer;

	private final Duration longCall;

	private final boolean showsMessages;

	private final Backoff backoff = retryPauses();

	/** Problem of a call; ends when a call succeeds. */
	private volatile @Nullable CallProblem callProblem;

	/** Problem of the last turn, above all with the store; ends when a turn succeeds. */
	private volatile @Nullable TurnProblem turnProblem;

	/** Problem of a shard in which no more records may wait; ends when some may. */
	private volatile @Nullable String fullQueue;

	private @Nullable String lastRefusal;

	private @Nullable MonotonicTime lastRefusalAt;

	private @Nullable MonotonicTime notBefore;

	/** Why records that were sent are not forwarded, {@code null} if they are. */
	private volatile @Nullable TurnProblem forwardingProblem;

	/** Why the schedule names no next run, {@code null} if it does. */
	private volatile @Nullable String scheduleProblem;

	/** Position in the schedule of a shard without records, otherwise {@code null}. */
	private volatile @Nullable RunPosition scheduled;

	/** Begin of the overdue turn that was logged last. */
	private volatile @Nullable MonotonicTime loggedTurn;

	public ShardProblems(OwnedShard owned, String handlerName, HandlerCalls calls, TurnWatch turns) {
		this.owned = owned;
		this.handlerName = handlerName;
		this.context = owned.context();
		this.calls = calls;
		this.turns = turns;
		this.timer = new WakeTimer(this.context.timer(), owned::wake);
		this.longCall = owned.settings().longCall();
		this.showsMessages = owned.settings().showExceptionMessages();
	}

	/**
	 * Returns the pauses between attempts of a shard: they double from 200 ms to 30 s.
	 */
	public static Backoff retryPauses() {
		return new Backoff(Duration.ofMillis(200), Duration.ofSeconds(30));
	}

	public @Nullable ShardProblem current() {
		MonotonicTime now = this.context.clock().now();
		MonotonicTime handover = this.owned.lifecycle().drainingSince();
		MonotonicTime since = (handover != null) ? handover : this.owned.lifecycle().seekingSince();
		Duration draining = (since != null) ? since.until(now) : Duration.ZERO;
		ShardProblem overdue = overdueTurn(now);
		ShardProblem noted = (overdue != null) ? overdue : recorded(now);
		if (draining.compareTo(LONG_DRAIN) <= 0) {
			ShardProblem longCall = longCall(now);
			return (noted != null && (noted.alarm() || longCall == null)) ? noted : longCall;
		}
		Duration outage = (noted != null) ? noted.outage() : null;
		return new ShardProblem("Has been waiting to be %s for %d s, but %s".formatted(
				(handover != null) ? "handed over" : "moved to another position", draining.toSeconds(),
				obstacle(noted)), outage == null, outage);
	}

	/**
	 * Returns the problem of the last turn or call. A call that is retried is no alarm
	 * until that takes as long as a long call.
	 */
	private @Nullable ShardProblem recorded(MonotonicTime now) {
		TurnProblem passing = this.turnProblem;
		if (passing != null) {
			return passing.at(now);
		}
		String stopped = this.scheduleProblem;
		if (stopped != null) {
			return ShardProblem.alarm(stopped);
		}
		String full = this.fullQueue;
		if (full != null) {
			return ShardProblem.alarm(full);
		}
		CallProblem noted = this.callProblem;
		MonotonicTime retriedSince = (noted != null) ? noted.retriedSince() : null;
		boolean lasts = noted != null && (retriedSince == null || retriedSince.until(now).compareTo(this.longCall) > 0);
		TurnProblem unsent = this.forwardingProblem;
		if (unsent != null && !lasts) {
			return unsent.at(now);
		}
		return (noted != null) ? new ShardProblem(noted.text(), lasts, null) : clockBehind();
	}

	/**
	 * Returns the problem of a clock that shows an earlier time than the last run has
	 * seen: it was set back, or that of an earlier owner was ahead.
	 */
	private @Nullable ShardProblem clockBehind() {
		RunPosition position = this.scheduled;
		Instant latest = (position != null) ? position.latest() : null;
		if (position == null || latest == null) {
			return null;
		}
		Instant clock = this.context.wallClock().instant();
		Duration behind = Duration.between(clock, latest);
		if (behind.compareTo(SAME_TIME) <= 0) {
			return null;
		}
		boolean waits = position.started() == null && position.next().isAfter(clock);
		return new ShardProblem(("The clock of this machine shows %s, %d s before the last run of the shard, "
				+ "which was at %s. %sSet the clocks of all instances (NTP). If this one is right, and an earlier one "
				+ "was ahead, seek the shard to 'earliest': its schedule starts over from now, and its state is kept")
			.formatted(seconds(clock), behind.toSeconds(), seconds(latest),
					waits ? "The next run waits until this clock shows %s. ".formatted(position.next()) : ""),
				behind.compareTo(WRONG_CLOCK) > 0, null);
	}

	private static Instant seconds(Instant time) {
		return time.truncatedTo(ChronoUnit.SECONDS);
	}

	/** Returns the problem of work that is not a call and does not return. */
	private @Nullable ShardProblem overdueTurn(MonotonicTime now) {
		TurnWatch.Overdue overdue = this.turns.overdue(now);
		if (overdue == null) {
			return null;
		}
		if (!overdue.since().equals(this.loggedTurn)) {
			this.loggedTurn = overdue.since();
			logger.error("The worker of {} has been outside of the calls of {} for {} s", this.owned, this.handlerName,
					overdue.since().until(now).toSeconds(), new CallStack("It is here", overdue.stack()));
		}
		return ShardProblem
			.alarm(("The worker of this shard has been outside of the calls of %s for %d s; it is at %s. Limit the time "
					+ "that a converter, FailureHandler, source or store of your own takes; if none of them is there, report this")
				.formatted(this.handlerName, overdue.since().until(now).toSeconds(), innermost(overdue.stack())));
	}

	private String obstacle(@Nullable ShardProblem noted) {
		List<StackTraceElement> stack = applicationStack();
		if (!stack.isEmpty()) {
			return "a call of %s has not returned; it is at %s".formatted(this.handlerName, innermost(stack));
		}
		return (noted != null) ? noted.text()
				: "its worker is waiting: all handler threads may be busy, or the store is slow";
	}

	private @Nullable ShardProblem longCall(MonotonicTime now) {
		MonotonicTime since = this.calls.since();
		Duration running = (since != null) ? since.until(now) : Duration.ZERO;
		List<StackTraceElement> stack = (running.compareTo(this.longCall) > 0) ? applicationStack() : List.of();
		return stack.isEmpty() ? null : ShardProblem
			.alarm(("A call of %s has not returned for %d s; it is at %s. Limit the time that it "
					+ "waits for other systems, or set 'shardkeeper.consumer.long-call' to more than such a call may take")
				.formatted(this.handlerName, running.toSeconds(), innermost(stack)));
	}

	/** Logs an overdue drain. The caller then interrupts the running call. */
	public void reportOverdueDrain(Duration draining) {
		List<StackTraceElement> stack = applicationStack();
		if (stack.isEmpty()) {
			logger.warn("{} has been waiting to be handed over for {} s, which is too long, but {}", this.owned,
					draining.toSeconds(), obstacle(recorded(this.context.clock().now())));
			return;
		}
		logger.warn(
				"{} has been waiting to be handed over for {} s, but a call of {} has not returned: interrupting it. Have it "
						+ "return when it is interrupted, and limit the time that it waits for others; or set "
						+ "'shardkeeper.handover.timeout' to more than such a call may take. It is at {}",
				this.owned, draining.toSeconds(), this.handlerName, FailureText.at(stack.get(0)),
				new CallStack("The call is here", stack));
	}

	private static String innermost(List<StackTraceElement> stack) {
		return stack.stream()
			.filter(FailureText::isInformative)
			.limit(FRAMES_IN_PROBLEM)
			.map(FailureText::at)
			.collect(Collectors.joining(", called by "));
	}

	private List<StackTraceElement> applicationStack() {
		return this.calls.stack().stream().takeWhile((frame) -> !frame.getClassName().equals(OUR_CALL)).toList();
	}

	/** Sets a problem that ends when a call succeeds. */
	public void blockedBy(String problem) {
		this.callProblem = new CallProblem(problem, null);
	}

	public void callSucceeded() {
		this.backoff.reset();
		if (this.callProblem != null) {
			this.callProblem = null;
		}
	}

	public void callbackFailed(String what, Throwable failure) {
		Duration pause = this.backoff.next();
		logRetry(what, what, failure, pause);
		blockedBy("%s keeps failing: %s".formatted(what, shown(failure)));
		retryAfter(pause);
	}

	/** Reports that a call has failed and is retried; other work continues. */
	public void callFailed(String handlerName, String where, Throwable failure, Duration pause) {
		String what = (handlerName + " " + where).strip();
		logRetry(handlerName, what, failure, pause);
		CallProblem before = this.callProblem;
		MonotonicTime since = (before != null) ? before.retriedSince() : null;
		this.callProblem = new CallProblem("%s keeps failing: %s".formatted(what, shown(failure)),
				(since != null) ? since : this.context.clock().now());
	}

	/**
	 * Returns a failure as it may be shown to whoever can see health and endpoint: its
	 * message may quote the record.
	 */
	private String shown(Throwable failure) {
		UnreadableStateException unreadable = FailurePolicy.unreadableState(failure);
		if (failure instanceof NoNextRunException) {
			return String.valueOf(failure.getMessage());
		}
		if (this.showsMessages) {
			return (unreadable != null) ? String.valueOf(unreadable.getMessage()) : failure.toString();
		}
		String target = (failure instanceof PayloadConversionException conversion) ? conversion.target() : null;
		return ((target != null) ? "the payload cannot be converted to %s: ".formatted(target) : "")
				+ ((unreadable != null) ? unreadable.subject() + ": " : "") + FailureText.withoutMessage(failure);
	}

	private void logRetry(String kind, String what, Throwable failure, Duration pause) {
		this.context.failures()
			.log(Level.WARN, kind,
					"%s failed for %s; trying again in %d ms".formatted(what, this.owned, pause.toMillis()), failure);
	}

	void haltedByConversions(Offset offset, int inARow, Duration pause, Throwable failure) {
		String text = ("Halted at offset %s: %d records in a row could not be converted for %s; the last failure: %s. "
				+ "Correct the handler's payload type or the converter and restart; or, if the records are wrong, set "
				+ "'shardkeeper.topics.%s.consumer.max-conversion-failures' to 0, and they become dead letters. "
				+ "The record is retried every %d s")
			.formatted(offset, inARow, this.handlerName, shown(failure), this.owned.shard().topic(), pause.toSeconds());
		blockedBy(text);
		this.context.failures().logEach(Level.ERROR, "%s is held up. %s".formatted(this.owned, text), failure);
	}

	void haltedAt(Offset offset, String handlerName, Throwable failure) {
		blockedBy("Halted at offset %s, which %s cannot handle: %s".formatted(offset, handlerName, shown(failure)));
		this.context.failures()
			.logEach(Level.ERROR, "%s is halted at offset %s, which %s cannot handle; no record is skipped"
				.formatted(this.owned, offset, handlerName), failure);
	}

	/** Reports that no call is made because a value of the state cannot be read. */
	public void haltedByState(String where, UnreadableStateException unreadable, Throwable failure) {
		String text = ("Halted%s: %%s. No record is retried or put aside; the shard resumes with an instance that can read it: "
				+ "correct the class or the JSON mapper, and restart")
			.formatted(where);
		blockedBy(text.formatted(shown(failure)));
		this.context.failures()
			.logEach(Level.ERROR, this.owned + " is halted. " + text.formatted(unreadable.getMessage()), failure);
	}

	/** Reports that a record has to wait behind others, and must not. */
	public void retryQueueFull(Offset offset, RetryQueue waiting) {
		ConsumerSettings.Parking limits = this.owned.settings().parking();
		boolean keys = waiting.records() < limits.maxRecords();
		String text = ("Halted at offset %s: %d keys with %d records wait because %s failed, and "
				+ "'shardkeeper.consumer.park-key.%s' (%d) permits no more. It resumes when one of them is handled; or "
				+ "drop what waits, or raise the limit and restart")
			.formatted(offset, waiting.keys(), waiting.records(), this.handlerName, keys ? "max-keys" : "max-records",
					keys ? limits.maxKeys() : limits.maxRecords());
		if (this.fullQueue == null) {
			logger.error("{} is held up. {}", this.owned, text);
		}
		this.fullQueue = text;
	}

	public void retryQueueHasRoom() {
		if (this.fullQueue != null) {
			this.fullQueue = null;
			logger.info("{} resumes: records may wait behind others of their keys again", this.owned);
		}
	}

	/** Sets the position in the schedule: the clock is compared with its times. */
	public void scheduledAt(RunPosition position) {
		this.scheduled = position;
	}

	/** Reports that no run is begun because the schedule does not name a next one. */
	public void scheduleStopped(NoNextRunException failure) {
		if (this.scheduleProblem == null) {
			logger.error("{} is held up", this.owned, failure);
		}
		this.scheduleProblem = failure.getMessage();
	}

	public void scheduleContinues() {
		this.scheduleProblem = null;
	}

	public void turnSucceeded() {
		this.turnProblem = null;
	}

	/** Sets why records that were sent are not forwarded, {@code null} if they are. */
	public void forwarding(@Nullable String problem) {
		this.forwardingProblem = (problem != null) ? outage(problem, this.forwardingProblem) : null;
	}

	/** Returns an outage, which began with the one before, if there is one. */
	private TurnProblem outage(String text, @Nullable TurnProblem before) {
		MonotonicTime since = (before != null) ? before.outageSince() : null;
		return new TurnProblem(text, (since != null) ? since : this.context.clock().now());
	}

	public void storeFailed(StoreUnavailableException failure) {
		String text = "The store cannot be used: " + failure.getMessage();
		// The coordinator logs an unavailable store; a refusal may concern one shard.
		if (failure.isRefusal()) {
			logRefusal(text);
			this.turnProblem = new TurnProblem(text, null);
		}
		else {
			this.turnProblem = outage(text, this.turnProblem);
		}
		retryAfter(STORE_RETRY_PAUSE);
	}

	private void logRefusal(String refusal) {
		MonotonicTime now = this.context.clock().now();
		boolean logged = refusal.equals(this.lastRefusal) && this.lastRefusalAt != null
				&& this.lastRefusalAt.until(now).compareTo(SAME_REFUSAL) < 0;
		if (!logged) {
			logger.warn("{} is held up; retrying. {}", this.owned, refusal);
		}
		this.lastRefusal = refusal;
		this.lastRefusalAt = now;
	}

	/** Reports that the store has no checkpoint, and none may be written back yet. */
	public void checkpointMissing() {
		this.turnProblem = outage("The store was emptied; offset and state are written back once the lease is held",
				this.turnProblem);
		if (this.owned.isHeld()) {
			retryAfter(STORE_RETRY_PAUSE);
		}
	}

	public void unexpected(Throwable failure) {
		try {
			logger.error("Unexpected failure while consuming {}; continuing", this.owned, failure);
			this.turnProblem = new TurnProblem("Unexpected failure: " + shown(FailureLog.printable(failure)), null);
		}
		finally {
			retryAfter(this.backoff.next());
		}
	}

	public void noThread(Throwable refusal) {
		if (this.context.timer().isShutdown()) {
			// All workers have ended.
			return;
		}
		this.context.timer().schedule(this.owned::wake, STORE_RETRY_PAUSE.toNanos(), TimeUnit.NANOSECONDS);
		this.turnProblem = new TurnProblem("No thread is available: " + refusal, null);
		logger.warn("No thread for {}; trying again in {} ms", this.owned, STORE_RETRY_PAUSE.toMillis(), refusal);
	}

	public boolean permitAttempt(MonotonicTime now) {
		if (this.notBefore != null && now.isBefore(this.notBefore)) {
			// Set again: the timer may have failed.
			this.timer.wakeAt(this.notBefore, now);
			return false;
		}
		this.notBefore = null;
		return true;
	}

	public void clear() {
		this.scheduled = null;
		this.scheduleProblem = null;
		this.fullQueue = null;
		this.callProblem = null;
		this.turnProblem = null;
		this.forwardingProblem = null;
	}

	private void retryAfter(Duration pause) {
		MonotonicTime now = this.context.clock().now();
		MonotonicTime retryAt = now.plus(pause);
		// A failing store does not shorten a callback's longer pause.
		this.notBefore = (this.notBefore != null && retryAt.isBefore(this.notBefore)) ? this.notBefore : retryAt;
		this.timer.wakeAt(retryAt, now);
	}

	/** Stack of a call that still runs, for the log. */
	private static final class CallStack extends Exception {

		private CallStack(String message, List<StackTraceElement> stack) {
			super(message);
			setStackTrace(stack.toArray(StackTraceElement[]::new));
		}

	}

	/**
	 * Problem of a turn.
	 *
	 * @param outageSince when a store began not to reply, {@code null} for another
	 * problem, which is an alarm
	 */
	private record TurnProblem(String text, @Nullable MonotonicTime outageSince) {

		ShardProblem at(MonotonicTime now) {
			MonotonicTime since = this.outageSince;
			return (since != null) ? ShardProblem.outage(this.text, since.until(now)) : ShardProblem.alarm(this.text);
		}

	}

	/** Problem of a call, with the time of its first failure if it is retried. */
	private record CallProblem(String text, @Nullable MonotonicTime retriedSince) {

	}

}
