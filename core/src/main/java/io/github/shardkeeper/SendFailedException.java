package io.github.shardkeeper;

import org.jspecify.annotations.Nullable;

/**
 * A record was not acknowledged. Sending it again later makes sense; whether that may
 * double it, {@link #mayHaveBeenAppended()} says.
 */
public class SendFailedException extends StoreUnavailableException {

	private final boolean mayHaveBeenAppended;

	/**
	 * Creates the exception.
	 * @param message what has happened
	 * @param cause why
	 * @param mayHaveBeenAppended whether the record may be in its shard all the same, now
	 * or in a moment
	 */
	public SendFailedException(String message, @Nullable Throwable cause, boolean mayHaveBeenAppended) {
		super(message, cause);
		this.mayHaveBeenAppended = mayHaveBeenAppended;
	}

	/**
	 * Whether the record may be in its shard all the same, so that sending it again may
	 * double it.
	 * @return {@code false} when it was never sent (no connection, the template is
	 * closed) or was refused by the source (its key is no stream, no memory, no right to
	 * write); {@code true} when there was no answer in time, or the connection was lost
	 * while waiting for one. Of several records sent together: whether one of them was or
	 * may have been appended
	 */
	public boolean mayHaveBeenAppended() {
		return this.mayHaveBeenAppended;
	}

}
