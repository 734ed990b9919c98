package io.github.shardkeeper;

import org.jspecify.annotations.Nullable;

/**
 * The store did not answer in time, could not be reached, or refused what it was asked.
 * Whether the operation took place is unknown, unless it was refused; repeating it later
 * makes sense.
 */
public class StoreUnavailableException extends RuntimeException {

	private final boolean refusal;

	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		this(message, cause, false);
	}

	/**
	 * Creates it.
	 * @param message what is wrong, and what to do
	 * @param cause the cause, if there is one
	 * @param refusal whether the store has answered, and refused
	 */
	public StoreUnavailableException(String message, @Nullable Throwable cause, boolean refusal) {
		super(message, cause);
		this.refusal = refusal;
	}

	/**
	 * Whether the store has answered, and refused, rather than been away: then the
	 * operation did not take place, and will not until somebody mends what the message
	 * names.
	 * @return whether it has refused
	 */
	public boolean isRefusal() {
		return this.refusal;
	}

}
