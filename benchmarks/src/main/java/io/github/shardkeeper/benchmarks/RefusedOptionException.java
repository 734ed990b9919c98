package io.github.shardkeeper.benchmarks;

/**
 * What was asked for is not there. The message says what to write instead.
 */
public final class RefusedOptionException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what is wrong, and what there is
	 */
	public RefusedOptionException(String message) {
		super(message);
	}

}
