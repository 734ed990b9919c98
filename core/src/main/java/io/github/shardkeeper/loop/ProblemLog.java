package io.github.shardkeeper.loop;

import java.util.HashSet;
import java.util.Set;

/**
 * Decides which failures of repeated attempts are logged: each cause once, and once when
 * the problem is resolved. Confined to the thread that makes the attempts.
 */
public final class ProblemLog {

	/** Limit per outage. With more causes, their texts differ in each attempt. */
	private static final int MOST_CAUSES = 10;

	private final Set<String> logged = new HashSet<>();

	/**
	 * Notes a failed attempt.
	 * @param cause the cause
	 * @return whether to log it
	 */
	public boolean isNew(String cause) {
		return this.logged.size() < MOST_CAUSES && this.logged.add(cause);
	}

	/**
	 * Returns whether nothing has been logged since the last problem was resolved.
	 * @return whether the log is empty
	 */
	public boolean isEmpty() {
		return this.logged.isEmpty();
	}

	/**
	 * Notes a successful attempt.
	 * @return whether to log that the problem is resolved
	 */
	public boolean resolved() {
		boolean wasLogged = !this.logged.isEmpty();
		this.logged.clear();
		return wasLogged;
	}

}
