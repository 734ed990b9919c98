package io.github.shardkeeper.handover;

/**
 * What a member has seen of its group. A store that knows less has lost writes.
 * Immutable.
 *
 * @param history the number of the group's past, as the last reply told it; 0 at first
 * @param generation up to which the member was told its own changes; 0 for everything
 * anew
 */
public record Seen(long history, long generation) {

	/** Nothing yet. */
	public static final Seen NOTHING = new Seen(0, 0);

}
