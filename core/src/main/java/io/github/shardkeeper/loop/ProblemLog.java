package io.github.shardkeeper.loop;

import java.util.HashSet;
import java.util.Set;

/**
 * Decides which failures of repeated attempts are logged: each cause once, and once when
 * the problem is resolved. Confined to the thread that makes the attempts.
 */
public final class ProblemLog {

	/** With more causes in an outage, their texts differ in each attempt. */
	private static final int MOST_CAUSES = 10;

	private final Set<String> logged = new HashSet<>();

	/** Notes a failed attempt, and returns whether to log its cause. */
	public boolean isNew(String cause) {
		return this.logged.size() < MOST_CAUSES && this.logged.add(cause);
	}

	/** Returns whether nothing has been logged since the last problem was resolved. */
	public boolean isEmpty() {
		return this.logged.isEmpty();
	}

	/** Notes a success, and returns whether to log that the problem is resolved. */
	public boolean resolved() {
		boolean wasLogged = !this.logged.isEmpty();
		this.logged.clear();
		return wasLogged;
	}

}
