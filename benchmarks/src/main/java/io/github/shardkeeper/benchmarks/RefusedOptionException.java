package io.github.shardkeeper.benchmarks;

/**
 * Thrown if an option is not valid. The message says what to write instead.
 */
public final class RefusedOptionException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the problem and valid values
	 */
	public RefusedOptionException(String message) {
		super(message);
	}

}
