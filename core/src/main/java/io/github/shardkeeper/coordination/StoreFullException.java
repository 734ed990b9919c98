package io.github.shardkeeper.coordination;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Thrown if the store has refused a subscription because its memory is full. A retry
 * fails until memory is free; a member may go on without a subscription until then.
 */
public class StoreFullException extends StoreUnavailableException {

	/**
	 * Creates the exception.
	 * @param message the problem and how to fix it
	 * @param cause the cause, {@code null} for none
	 */
	public StoreFullException(String message, @Nullable Throwable cause) {
		super(message, cause, true);
	}

}
