package io.github.shardkeeper.text;

import org.jspecify.annotations.Nullable;

/**
 * Description of a failure by class and place, for health and endpoints. Messages of
 * exceptions may quote the record that was handled or the address of a database, so they
 * belong in the log only. Has no state.
 */
public final class FailureText {

	private static final int MAX_CAUSES = 20;

	private FailureText() {
	}

	/**
	 * Returns the classes of a failure and of its root cause, each with the place in the
	 * code where it was thrown, and no message.
	 */
	public static String withoutMessage(Throwable failure) {
		Throwable root = root(failure);
		return ((root == failure) ? thrown(failure) : thrown(failure) + ", caused by " + thrown(root))
				+ " (the log has the message)";
	}

	/**
	 * Returns why a value cannot be written as JSON, without Jackson's advice to write an
	 * empty object for it.
	 */
	public static String ofWritingJson(String jacksonMessage) {
		return PrintableText.of(jacksonMessage)
			.replace(" (to avoid exception, disable SerializationFeature.FAIL_ON_EMPTY_BEANS)",
					", so it would be written as {}; give the class getters, or make it a record");
	}

	private static Throwable root(Throwable failure) {
		Throwable root = failure;
		for (int i = 0; root.getCause() != null && i < MAX_CAUSES; i++) {
			root = root.getCause();
		}
		return root;
	}

	private static String thrown(Throwable failure) {
		StackTraceElement place = place(failure.getStackTrace());
		return failure.getClass().getName() + ((place != null) ? " at " + at(place) : "");
	}

	/** Returns the innermost frame that is not of the JDK. */
	private static @Nullable StackTraceElement place(StackTraceElement[] stack) {
		for (StackTraceElement frame : stack) {
			if (isInformative(frame)) {
				return frame;
			}
		}
		return null;
	}

	/** Returns whether a frame has a place in source code outside of the JDK. */
	public static boolean isInformative(StackTraceElement frame) {
		return frame.getFileName() != null
				&& (frame.getModuleName() == null || !frame.getModuleName().startsWith("java."));
	}

	/** Returns method, file and line of a frame. */
	public static String at(StackTraceElement frame) {
		return "%s.%s(%s:%d)".formatted(frame.getClassName(), frame.getMethodName(), frame.getFileName(),
				frame.getLineNumber());
	}

}
