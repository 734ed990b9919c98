package io.github.shardkeeper.operations.request;

/**
 * Thrown if an operation is not performed because of the request; nothing was changed.
 * The message says what to write or to do instead. The same request makes sense again
 * only after {@link Kind#CONFLICT}.
 */
public final class OperationRefusedException extends RuntimeException {

	private final Kind kind;

	OperationRefusedException(Kind kind, String message) {
		super(message);
		this.kind = kind;
	}

	public static OperationRefusedException malformed(String message) {
		return new OperationRefusedException(Kind.MALFORMED, message);
	}

	public static OperationRefusedException unknown(String message) {
		return new OperationRefusedException(Kind.UNKNOWN, message);
	}

	public static OperationRefusedException conflict(String message) {
		return new OperationRefusedException(Kind.CONFLICT, message);
	}

	/** Returns the kind of the reason. */
	public Kind kind() {
		return this.kind;
	}

	/** Kind of a reason. */
	public enum Kind {

		/** The request does not follow the rules. */
		MALFORMED,

		/** It names something that does not exist. */
		UNKNOWN,

		/** The present state does not allow it. */
		CONFLICT

	}

}
