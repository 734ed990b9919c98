package io.github.shardkeeper.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Exception for a log in place of one whose messages would not stay in their lines. Has
 * the stack traces, causes and suppressed exceptions of the original. Immutable once it
 * is created.
 */
final class PrintableFailure extends RuntimeException {

	/** Longest message; an exception may quote a whole payload. */
	private static final int MAX_LENGTH = 10_000;

	/** Exceptions that are looked at; causes may have causes without end. */
	private static final int MAX_FAILURES = 100;

	private PrintableFailure(String message, @Nullable Throwable cause, StackTraceElement[] stack) {
		super(message, cause);
		setStackTrace(stack);
	}

	/** Returns a failure, or its replacement if one of its messages needs one. */
	static Throwable of(Throwable failure) {
		return all(failure).stream().allMatch(PrintableFailure::isPrintable) ? failure
				: copy(failure, Collections.newSetFromMap(new IdentityHashMap<>()));
	}

	/** Returns a failure with all that a stack trace of it shows. */
	private static List<Throwable> all(Throwable failure) {
		Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		List<Throwable> found = new ArrayList<>();
		add(failure, seen, found);
		return found;
	}

	private static void add(@Nullable Throwable failure, Set<Throwable> seen, List<Throwable> found) {
		if (failure == null || found.size() >= MAX_FAILURES || !seen.add(failure)) {
			return;
		}
		found.add(failure);
		add(failure.getCause(), seen, found);
		for (Throwable suppressed : failure.getSuppressed()) {
			add(suppressed, seen, found);
		}
	}

	private static boolean isPrintable(Throwable failure) {
		try {
			String text = text(failure);
			return text.length() <= MAX_LENGTH && PrintableText.isPrintable(text);
		}
		catch (Throwable ex) {
			return false;
		}
	}

	private static PrintableFailure copy(Throwable failure, Set<Throwable> seen) {
		seen.add(failure);
		Throwable cause = failure.getCause();
		PrintableFailure copy = new PrintableFailure(PrintableText.of(textOrReason(failure), MAX_LENGTH),
				(cause != null && isNew(cause, seen)) ? copy(cause, seen) : null, failure.getStackTrace());
		for (Throwable suppressed : failure.getSuppressed()) {
			if (isNew(suppressed, seen)) {
				copy.addSuppressed(copy(suppressed, seen));
			}
		}
		return copy;
	}

	private static boolean isNew(Throwable failure, Set<Throwable> seen) {
		return seen.size() < MAX_FAILURES && !seen.contains(failure);
	}

	/** Returns what a stack trace begins with; that is code of the application, too. */
	private static String text(Throwable failure) {
		String message = failure.getMessage();
		String text = failure.toString();
		// A log shows the message, and a stack trace that is printed the other.
		return (message == null || text.contains(message)) ? text : failure.getClass().getName() + ": " + message;
	}

	private static String textOrReason(Throwable failure) {
		try {
			return text(failure);
		}
		catch (Throwable ex) {
			return failure.getClass().getName() + ", whose message cannot be read: " + ex.getClass().getName();
		}
	}

	/** Returns the class and message of the original. */
	@Override
	public String toString() {
		return String.valueOf(getMessage());
	}

}
