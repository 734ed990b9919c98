package io.github.shardkeeper.cluster;

/**
 * Thrown if a parameter has another version than the one that a change expects, because
 * somebody else has changed it. Nothing was changed. Retry after looking at the value
 * that it has now.
 */
public class ParameterConflictException extends RuntimeException {

	private final long version;

	/**
	 * Creates the exception.
	 * @param message the problem
	 * @param version the version that the parameter has
	 */
	public ParameterConflictException(String message, long version) {
		super(message);
		this.version = version;
	}

	/**
	 * Returns the version that the parameter has.
	 * @return the version; 0 if it was never set, -1 if somebody else has written its
	 * entry in the store and it has none
	 */
	public long version() {
		return this.version;
	}

}
