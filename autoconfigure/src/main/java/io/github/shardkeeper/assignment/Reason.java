package io.github.shardkeeper.assignment;

/**
 * Why a shard is to be where an assignment puts it.
 */
public enum Reason {

	/** It stays where it is: nothing demands a move. */
	KEPT("nothing demands a move"),

	/** Nobody had it, or its owner is gone or going. */
	PLACED("it had no owner that stays, and this one had most room"),

	/** Its owner carried more than its share, its new one less. */
	SHARE("its owner carried more than its share, this one less"),

	/** Its owner runs an older version of the application, which is about to go. */
	NEWER_VERSION("while versions are mixed, shards move to the newest"),

	/** It is pinned to an instance. */
	PINNED("it is pinned to this instance"),

	/** Its data is in the zone of its new owner. */
	ZONE("its data is in this one's zone"),

	/**
	 * Its owner has got another shard that it alone could take, or that belongs there.
	 */
	ROOM("it made room for a shard that its owner was to have instead"),

	/** Its owner is measured to be busier than its new one by more than a move costs. */
	LOAD("its owner is busier than this one, by more than the move costs"),

	/** The strategy knows no history: its rule alone decides. */
	RULE("the strategy's rule gives it to this one"),

	/** The application's own strategy decided so. */
	CHOSEN("the application's own strategy decided so"),

	/** The strategy has not answered for the group as it is now. */
	LAST("the last assignment stands until the strategy answers for the group as it is now");

	private final String text;

	Reason(String text) {
		this.text = text;
	}

	/**
	 * The reason in words.
	 * @return the second half of a sentence
	 */
	public String text() {
		return this.text;
	}

}
