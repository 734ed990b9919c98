package io.github.shardkeeper.assignment;

/**
 * Reason for the owner that an assignment gives to a shard.
 */
public enum Reason {

	/** The shard stays where it is. */
	KEPT("nothing demands a move"),

	/** The shard had no owner, or its owner has left or is leaving. */
	PLACED("it had no owner that stays, and this one had most room"),

	/** The load of its owner was above its share, that of the new owner below. */
	SHARE("its owner carried more than its share, this one less"),

	/** Its owner runs an older version of the application. */
	NEWER_VERSION("while versions are mixed, shards move to the newest"),

	/** The shard is pinned to an instance. */
	PINNED("it is pinned to this instance"),

	/** Its data is in the zone of its new owner. */
	ZONE("its data is in this one's zone"),

	/** Its owner got another shard that only it could take, or that belongs there. */
	ROOM("it made room for a shard that its owner was to have instead"),

	/** The measured load of its owner exceeds that of the new owner by enough. */
	LOAD("its owner is busier than this one, by more than the move costs"),

	/** A rule decides that does not use current owners. */
	RULE("the strategy's rule gives it to this one"),

	/** The application's own strategy decides. */
	CHOSEN("the application's own strategy decided so"),

	/** The last assignment holds until the strategy answers for the current group. */
	LAST("the last assignment stands until the strategy answers for the group as it is now");

	private final String text;

	Reason(String text) {
		this.text = text;
	}

	/**
	 * Returns the reason in words.
	 * @return the second half of a sentence
	 */
	public String text() {
		return this.text;
	}

}
