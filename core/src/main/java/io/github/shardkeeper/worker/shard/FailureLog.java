package io.github.shardkeeper.worker.shard;

import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Logs failures of handlers and conversions: the first of a kind at once, the number of
 * the others once a minute, the stack trace of a cause once a minute. Thread-safe.
 */
public final class FailureLog {

	private static final Logger logger = PrintableLogger.of(FailureLog.class);

	public static final Duration PERIOD = Duration.ofMinutes(1);

	/** Limit of the kinds; further ones are counted together. */
	private static final int MAX_KINDS = 200;

	private static final int MAX_CAUSES = 20;

	private final MonotonicClock clock;

	private final ScheduledExecutorService timer;

	/** Guarded by this. */
	private final Map<String, Repeated> kinds = new HashMap<>();

	/** Time of the last stack trace by cause; guarded by this. */
	private final Map<String, MonotonicTime> traced = new HashMap<>();

	FailureLog(MonotonicClock clock, ScheduledExecutorService timer) {
		this.clock = clock;
		this.timer = timer;
	}

	/** Logs a failure, or counts it with earlier ones of the same kind and cause. */
	public void log(Level level, String kind, String message, Throwable failure) {
		MonotonicTime now = this.clock.now();
		String cause = cause(failure);
		String key = level + kind + cause;
		Repeated ended = null;
		boolean toBeScheduled = false;
		boolean isFirst = false;
		boolean withStack = false;
		synchronized (this) {
			if (this.kinds.size() >= MAX_KINDS && !this.kinds.containsKey(key)) {
				key = "others";
			}
			Repeated repeated = this.kinds.get(key);
			if (repeated != null && !isOver(repeated.since, now)) {
				toBeScheduled = repeated.count == 0;
				repeated.count++;
				repeated.last = message + ": " + failure;
			}
			else {
				// If there is one, the timer has not logged it.
				ended = repeated;
				isFirst = true;
				this.kinds.put(key, new Repeated(level, now));
				withStack = isToBeTraced(cause, now);
			}
		}
		if (ended != null) {
			logCount(ended);
		}
		if (isFirst) {
			write(level, message, failure, withStack);
		}
		if (toBeScheduled && !this.timer.isShutdown()) {
			String repeatedKey = key;
			this.timer.schedule(() -> periodOver(repeatedKey), PERIOD.toNanos(), TimeUnit.NANOSECONDS);
		}
	}

	/** Logs each failure, but the stack trace of its cause once a minute. */
	public void logEach(Level level, String message, Throwable failure) {
		boolean withStack;
		synchronized (this) {
			withStack = isToBeTraced(cause(failure), this.clock.now());
		}
		write(level, message, failure, withStack);
	}

	private static void write(Level level, String message, Throwable failure, boolean withStack) {
		if (withStack) {
			logger.atLevel(level).setCause(failure).log(message);
		}
		else {
			logger.atLevel(level).log("{}: {}", message, failure.toString());
		}
	}

	private void periodOver(String key) {
		Repeated over;
		synchronized (this) {
			Repeated repeated = this.kinds.get(key);
			if (repeated == null || !isOver(repeated.since, this.clock.now())) {
				// Another failure has logged it.
				return;
			}
			over = this.kinds.remove(key);
		}
		if (over != null) {
			logCount(over);
		}
	}

	private static void logCount(Repeated over) {
		if (over.count > 0) {
			logger.atLevel(over.level)
				.log("{} more like that in {} s. The last: {}", over.count, PERIOD.toSeconds(), over.last);
		}
	}

	private boolean isToBeTraced(String cause, MonotonicTime now) {
		MonotonicTime last = this.traced.get(cause);
		if (last != null && !isOver(last, now)) {
			return false;
		}
		if (this.traced.size() >= MAX_KINDS) {
			for (Iterator<MonotonicTime> each = this.traced.values().iterator(); each.hasNext();) {
				if (isOver(each.next(), now)) {
					each.remove();
				}
			}
		}
		if (this.traced.size() < MAX_KINDS) {
			this.traced.put(cause, now);
		}
		return true;
	}

	private static boolean isOver(MonotonicTime since, MonotonicTime now) {
		return since.until(now).compareTo(PERIOD) >= 0;
	}

	/** Returns classes and places, not messages: those differ from record to record. */
	private static String cause(Throwable failure) {
		StringBuilder cause = new StringBuilder();
		Throwable current = failure;
		for (int i = 0; current != null && i < MAX_CAUSES; i++) {
			StackTraceElement[] stack = current.getStackTrace();
			cause.append('|').append(current.getClass().getName()).append((stack.length > 0) ? stack[0] : "");
			current = current.getCause();
		}
		return cause.toString();
	}

	/**
	 * Returns a failure, or a replacement if it cannot be printed, for example because
	 * its {@code getMessage()} throws: logging or storing it would fail, too.
	 */
	public static Throwable printable(Throwable failure) {
		try {
			failure.printStackTrace(new PrintWriter(Writer.nullWriter()));
			return failure;
		}
		catch (Throwable ex) {
			UnprintableFailure replacement = new UnprintableFailure(failure, ex);
			replacement.setStackTrace(ex.getStackTrace());
			return replacement;
		}
	}

	private static final class UnprintableFailure extends RuntimeException {

		private UnprintableFailure(Throwable failure, Throwable printing) {
			super("A %s, which cannot be printed: that throws a %s".formatted(failure.getClass().getName(),
					printing.getClass().getName()));
		}

	}

	private static final class Repeated {

		private final Level level;

		private final MonotonicTime since;

		private long count;

		private @Nullable String last;

		private Repeated(Level level, MonotonicTime since) {
			this.level = level;
			this.since = since;
		}

	}

}
