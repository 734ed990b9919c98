package io.github.shardkeeper.benchmarks.state;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Instances of a system, of which one at a time owns the only shard. They handle numbered
 * records: those below 0 write entries of the state, the others count themselves in it
 * and read one entry. Confined to one thread, except for {@link #send}.
 */
interface Instances extends AutoCloseable {

	String TOPIC = "states";

	/** The entry that counts the records that are not below 0. */
	String HANDLED = "handled";

	/** Written as JSON it has 100 bytes. */
	String VALUE = "x".repeat(98);

	/** Number of entries that one record writes. */
	int WRITTEN_AT_ONCE = 1000;

	/** Sends records. */
	void send(List<Integer> numbers);

	/**
	 * Starts an instance.
	 * @param gaps receives each record that is not below 0
	 * @return an action that ends the instance in order
	 */
	Runnable start(Gaps gaps);

	@Override
	void close();

	/** Returns the records that write a state. */
	static List<Integer> writing(int entries) {
		return IntStream.rangeClosed(1, (entries + WRITTEN_AT_ONCE - 1) / WRITTEN_AT_ONCE)
			.mapToObj((record) -> -record)
			.toList();
	}

	/** Returns the keys that such a record writes. */
	static List<String> written(int number, int entries) {
		int end = -number * WRITTEN_AT_ONCE;
		return IntStream.range(end - WRITTEN_AT_ONCE, Math.min(end, entries)).mapToObj(Instances::key).toList();
	}

	/** Returns the key that another record reads. */
	static String read(int number, int entries) {
		return key((int) (number * 7919L % entries));
	}

	private static String key(int entry) {
		return "entry-" + entry;
	}

}
