package io.github.shardkeeper.protocol;

/**
 * What a member has seen of its group and of the store's clock. A store that knows less
 * has lost writes; a clock that shows less was set back. Immutable.
 *
 * @param history the number of the group's past, as the last reply told it; 0 at first
 * @param generation up to which the member was told its own changes; 0 for everything
 * anew
 * @param earliestMillis the earliest time that the store's clock can show when it hears
 * of this, unless it was set back; 0 when that is not known
 * @param longestLeaseMillis the longest lease under which anybody in the group may hold a
 * shard; 0 when that is not known
 */
public record Seen(long history, long generation, long earliestMillis, long longestLeaseMillis) {

	/** Nothing yet. */
	public static final Seen NOTHING = new Seen(0, 0);

	/**
	 * Creates what says nothing of the store's clock and of leases.
	 * @param history the number of the group's past
	 * @param generation up to which the member was told its own changes
	 */
	public Seen(long history, long generation) {
		this(history, generation, 0, 0);
	}

	/**
	 * Returns the same with what is known of the store's clock.
	 * @param earliest the earliest time that it can show, in milliseconds
	 * @return a copy
	 */
	public Seen withClock(long earliest) {
		return new Seen(this.history, this.generation, earliest, this.longestLeaseMillis);
	}

	/**
	 * Returns the same with what is known of the group's leases.
	 * @param longest the longest of them, in milliseconds
	 * @return a copy
	 */
	public Seen withLongestLease(long longest) {
		return new Seen(this.history, this.generation, this.earliestMillis, longest);
	}

}
