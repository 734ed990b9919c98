package io.github.shardkeeper;

import org.jspecify.annotations.Nullable;

/**
 * The store did not answer in time or could not be reached. Whether the operation took
 * place is unknown; repeating it later makes sense.
 */
public class StoreUnavailableException extends RuntimeException {

	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
