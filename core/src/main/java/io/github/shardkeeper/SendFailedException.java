package io.github.shardkeeper;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the source did not confirm a record. A retry makes sense; it may duplicate
 * the record if {@link #mayHaveBeenAppended()}.
 */
public class SendFailedException extends StoreUnavailableException {

	private final boolean mayHaveBeenAppended;

	/**
	 * Creates the exception.
	 * @param message the problem
	 * @param cause the cause, {@code null} for none
	 * @param mayHaveBeenAppended whether the record may be in its shard, now or soon
	 */
	public SendFailedException(String message, @Nullable Throwable cause, boolean mayHaveBeenAppended) {
		this(message, cause, mayHaveBeenAppended, false);
	}

	/**
	 * Creates the exception.
	 * @param message the problem
	 * @param cause the cause, {@code null} for none
	 * @param mayHaveBeenAppended whether the record may be in its shard, now or soon
	 * @param refusal whether the source has answered and refused the record, so that the
	 * template does not repeat it
	 */
	public SendFailedException(String message, @Nullable Throwable cause, boolean mayHaveBeenAppended,
			boolean refusal) {
		super(message, cause, refusal);
		this.mayHaveBeenAppended = mayHaveBeenAppended;
	}

	/**
	 * Returns whether the record may be in its shard, so that a retry may duplicate it.
	 * @return {@code false} if it was not sent (no connection, the template is closed) or
	 * the source has refused it (the key holds another type, out of memory, no
	 * permission); {@code true} if there was no reply in time, or the connection was lost
	 * while waiting. For several records: whether any may have been appended
	 */
	public boolean mayHaveBeenAppended() {
		return this.mayHaveBeenAppended;
	}

}
