package io.github.shardkeeper.benchmarks.records;

import io.github.shardkeeper.benchmarks.Contender;

/**
 * Ways to handle records in transactions.
 */
enum Transactions implements Contender {

	SINGLE("Shardkeeper, `transaction: jdbc`, one record"),

	SINGLE_BY_KEY("Shardkeeper, `transaction: jdbc`, one record, `ordering: key`"),

	SINGLE_WITHOUT("Shardkeeper without exactly once, one record"),

	SINGLE_BY_HAND("Spring Kafka, offsets by hand, one record"),

	LISTS("Shardkeeper, `transaction: jdbc`, lists of up to " + Transactions.LIST),

	LISTS_WITHOUT("Shardkeeper without exactly once, lists of up to " + Transactions.LIST),

	LISTS_BY_HAND("Spring Kafka, offsets by hand, lists of up to " + Transactions.LIST);

	static final int LIST = 100;

	private final String text;

	Transactions(String text) {
		this.text = text;
	}

	@Override
	public String text() {
		return this.text;
	}

	boolean takesLists() {
		return name().startsWith("LISTS");
	}

	/** Returns whether only records with the same key have an order. */
	boolean isByKey() {
		return this == SINGLE_BY_KEY;
	}

	/** Returns whether Shardkeeper does not take part. */
	boolean isByHand() {
		return name().endsWith("BY_HAND");
	}

	/** Returns whether the offset is in the transaction of the rows by Shardkeeper. */
	boolean isFenced() {
		return !isPeer();
	}

	/** Returns whether the others are compared with it. */
	boolean isPeer() {
		return isByHand() || name().endsWith("WITHOUT");
	}

}
