package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.MonotonicClock;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * Says what keeps a shard from being consumed, or from being handed over: in health as
 * soon as it takes long, in the log when the drain is overdue. Thread-safe.
 */
final class ObstacleReport {

	private static final Logger logger = LoggerFactory.getLogger(ObstacleReport.class);

	/** A drain that takes longer is worth telling. */
	private static final Duration LONG_DRAIN = Duration.ofSeconds(5);

	private static final int FRAMES_IN_PROBLEM = 3;

	/** The frames below belong to nobody who can change them. */
	private static final String OUR_CALL = ShardHandler.class.getName();

	private final OwnedShard owned;

	private final MonotonicClock clock;

	private final String handlerName;

	private final Duration longCall;

	private final WorkerCourse course;

	private final Repositioning repositioning;

	private final ShardCalls calls;

	private final WorkerTroubles troubles;

	ObstacleReport(OwnedShard owned, MonotonicClock clock, String handlerName, Duration longCall, WorkerCourse course,
			Repositioning repositioning, ShardCalls calls, WorkerTroubles troubles) {
		this.owned = owned;
		this.clock = clock;
		this.handlerName = handlerName;
		this.longCall = longCall;
		this.course = course;
		this.repositioning = repositioning;
		this.calls = calls;
		this.troubles = troubles;
	}

	/** What keeps the shard from being consumed, or from being handed over. */
	@Nullable ShardProblem problem(MonotonicTime now) {
		MonotonicTime handover = this.course.drainingSince();
		MonotonicTime since = (handover != null) ? handover : this.repositioning.dueSince();
		Duration draining = (since != null) ? since.until(now) : Duration.ZERO;
		ShardProblem current = this.troubles.current(now);
		if (draining.compareTo(LONG_DRAIN) <= 0) {
			ShardProblem longCall = longCall(now);
			return (current != null && (current.alarm() || longCall == null)) ? current : longCall;
		}
		String obstacle = obstacle(current);
		return ShardProblem.alarm("Has been waiting to be %s for %d s, but %s".formatted(
				(handover != null) ? "handed over" : "moved to another position", draining.toSeconds(), obstacle));
	}

	private String obstacle(@Nullable ShardProblem current) {
		List<StackTraceElement> stack = frames();
		if (!stack.isEmpty()) {
			return "a call of %s has not returned; it is at %s".formatted(this.handlerName, innermost(stack));
		}
		return (current != null) ? current.text()
				: "its worker is waiting: all handler threads may be busy, or the store is slow";
	}

	/** Nobody waits for the shard, but its records wait. */
	private @Nullable ShardProblem longCall(MonotonicTime now) {
		MonotonicTime since = this.calls.since();
		Duration running = (since != null) ? since.until(now) : Duration.ZERO;
		List<StackTraceElement> stack = (running.compareTo(this.longCall) > 0) ? frames() : List.of();
		return stack.isEmpty() ? null : ShardProblem
			.alarm(("A call of %s has not returned for %d s; it is at %s. Limit the time that it "
					+ "waits for other systems, or set 'shardkeeper.consumer.long-call' to more than such a call may take")
				.formatted(this.handlerName, running.toSeconds(), innermost(stack)));
	}

	/** The drain is overdue, and the call that runs now is about to be interrupted. */
	void overdue(Duration draining) {
		List<StackTraceElement> stack = frames();
		if (stack.isEmpty()) {
			logger.warn("{} has been waiting to be handed over for {} s, which is too long, but {}", this.owned,
					draining.toSeconds(), obstacle(this.troubles.current(this.clock.now())));
			return;
		}
		logger.warn(
				"{} has been waiting to be handed over for {} s, but a call of {} has not returned: interrupting it. Have it "
						+ "return when it is interrupted, and limit the time that it waits for others; or set "
						+ "'shardkeeper.handover.timeout' to more than such a call may take. It is at{}",
				this.owned, draining.toSeconds(), this.handlerName,
				stack.stream().map((frame) -> "\n\tat " + frame).collect(Collectors.joining()));
	}

	private static String innermost(List<StackTraceElement> stack) {
		return stack.stream()
			.filter(ObstacleReport::saysSomething)
			.limit(FRAMES_IN_PROBLEM)
			.map(ObstacleReport::text)
			.collect(Collectors.joining(", called by "));
	}

	/** Where in the JDK a thread is parked says little, and generated code even less. */
	private static boolean saysSomething(StackTraceElement frame) {
		return frame.getFileName() != null
				&& (frame.getModuleName() == null || !frame.getModuleName().startsWith("java."));
	}

	/** Without module and class loader. */
	private static String text(StackTraceElement frame) {
		return "%s.%s(%s:%d)".formatted(frame.getClassName(), frame.getMethodName(), frame.getFileName(),
				frame.getLineNumber());
	}

	private List<StackTraceElement> frames() {
		return this.calls.stack().stream().takeWhile((frame) -> !frame.getClassName().equals(OUR_CALL)).toList();
	}

}
