package io.github.shardkeeper.text;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.LocationAwareLogger;

/**
 * Logger whose messages are one line each, so that no name and no exception can forge a
 * line of a log or write to a terminal. The only logger of this library. Thread-safe.
 */
public final class PrintableLogger extends AbstractLogger {

	/** Longest message; a text in it may be a value that others have written. */
	private static final int MAX_LENGTH = 10_000;

	/** Its methods are what callers call. */
	private static final String BOUNDARY = AbstractLogger.class.getName();

	private final transient Logger target;

	private PrintableLogger(Logger target) {
		this.target = target;
		this.name = target.getName();
	}

	/** Returns the logger of a class. */
	public static Logger of(Class<?> type) {
		return new PrintableLogger(LoggerFactory.getLogger(type));
	}

	@Override
	protected String getFullyQualifiedCallerName() {
		return BOUNDARY;
	}

	@Override
	protected void handleNormalizedLoggingCall(Level level, @Nullable Marker marker, String pattern,
			Object @Nullable [] arguments, @Nullable Throwable failure) {
		String message = PrintableText.of(MessageFormatter.basicArrayFormat(pattern, arguments), MAX_LENGTH);
		Throwable printable = (failure != null) ? PrintableFailure.of(failure) : null;
		if (this.target instanceof LocationAwareLogger aware) {
			aware.log(marker, BOUNDARY, level.toInt(), message, null, printable);
		}
		else {
			this.target.atLevel(level).setCause(printable).log(message);
		}
	}

	@Override
	public boolean isTraceEnabled() {
		return this.target.isTraceEnabled();
	}

	@Override
	public boolean isTraceEnabled(Marker marker) {
		return this.target.isTraceEnabled(marker);
	}

	@Override
	public boolean isDebugEnabled() {
		return this.target.isDebugEnabled();
	}

	@Override
	public boolean isDebugEnabled(Marker marker) {
		return this.target.isDebugEnabled(marker);
	}

	@Override
	public boolean isInfoEnabled() {
		return this.target.isInfoEnabled();
	}

	@Override
	public boolean isInfoEnabled(Marker marker) {
		return this.target.isInfoEnabled(marker);
	}

	@Override
	public boolean isWarnEnabled() {
		return this.target.isWarnEnabled();
	}

	@Override
	public boolean isWarnEnabled(Marker marker) {
		return this.target.isWarnEnabled(marker);
	}

	@Override
	public boolean isErrorEnabled() {
		return this.target.isErrorEnabled();
	}

	@Override
	public boolean isErrorEnabled(Marker marker) {
		return this.target.isErrorEnabled(marker);
	}

}
