package io.github.shardkeeper.loop;

import java.util.HashSet;
import java.util.Set;

/**
 * What was said of a problem that comes up with each attempt: each cause is said once,
 * and once that it is over. Confined to whoever attempts.
 */
public final class ProblemLog {

	/** Of one outage; if there are more, their texts differ each time. */
	private static final int MOST_CAUSES = 10;

	private final Set<String> said = new HashSet<>();

	/**
	 * An attempt has failed.
	 * @param cause why
	 * @return whether that is to be said
	 */
	public boolean isNew(String cause) {
		return this.said.size() < MOST_CAUSES && this.said.add(cause);
	}

	/**
	 * Whether nothing was said since the problem was over.
	 * @return whether it is
	 */
	public boolean isEmpty() {
		return this.said.isEmpty();
	}

	/**
	 * An attempt has succeeded.
	 * @return whether that is to be said
	 */
	public boolean resolved() {
		boolean wasSaid = !this.said.isEmpty();
		this.said.clear();
		return wasSaid;
	}

}
