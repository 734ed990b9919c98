package io.github.shardkeeper.assignment;

/** Reason for the owner that an assignment gives to a shard. */
public enum Reason {

	/** The shard stays with its owner. */
	KEPT("no rule requires a move"),

	/** The shard had no owner, or its owner has left or is leaving. */
	PLACED("it had no remaining owner, and this member had the most room"),

	/** The load of its owner was above its share, that of the new owner below. */
	SHARE("its owner had more than its share, this member less"),

	/** Its owner runs an older version of the application. */
	NEWER_VERSION("while versions are mixed, shards move to the newest"),

	/** The shard is pinned to an instance. */
	PINNED("it is pinned to this instance"),

	/** Its data is in the zone of its new owner. */
	ZONE("its data is in the zone of this member"),

	/** Its owner takes another shard instead: only it can, or it is in its zone. */
	ROOM("its owner needed room for another shard"),

	/** The measured load of its owner exceeds that of the new owner by enough. */
	LOAD("its owner is busier than this member by enough for a move"),

	/** A rule decides that does not use current owners. */
	RULE("the rule of the strategy assigns it to this member"),

	/** The application's own strategy decides. */
	CHOSEN("the application's own strategy assigns it to this member"),

	/** The last assignment holds until the strategy replies for the current group. */
	LAST("the last assignment holds until the strategy replies for the current group");

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
