package io.github.shardkeeper;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store did not reply in time, could not be reached, or refused an
 * operation. A retry makes sense. Unless it was {@linkplain #isRefusal() refused}, the
 * operation may have taken effect.
 */
public class StoreUnavailableException extends RuntimeException {

	private final boolean refusal;

	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		this(message, cause, false);
	}

	/**
	 * Creates the exception.
	 * @param message the problem and how to fix it
	 * @param cause the cause, {@code null} for none
	 * @param refusal whether the store has answered and refused the operation
	 */
	public StoreUnavailableException(String message, @Nullable Throwable cause, boolean refusal) {
		super(message, cause);
		this.refusal = refusal;
	}

	/**
	 * Returns whether the store has answered and refused the operation. Then it has had
	 * no effect, and a retry fails until the problem in the message is fixed.
	 * @return whether it was refused
	 */
	public boolean isRefusal() {
		return this.refusal;
	}

	/**
	 * Thrown if the store has refused a subscription because its memory is full. A retry
	 * fails until memory is free; a member may go on without a subscription until then.
	 */
	public static class StoreFullException extends StoreUnavailableException {

		/**
		 * Creates the exception.
		 * @param message the problem and how to fix it
		 * @param cause the cause, {@code null} for none
		 */
		public StoreFullException(String message, @Nullable Throwable cause) {
			super(message, cause, true);
		}

	}

	/**
	 * Thrown if this instance has no session in its group, or not its lease: it has just
	 * started, or the store has not answered for a while. Nothing was done.
	 */
	public static class NoSessionException extends StoreUnavailableException {

		/**
		 * Creates the exception.
		 * @param message the problem
		 */
		public NoSessionException(String message) {
			super(message, null);
		}

	}

}
