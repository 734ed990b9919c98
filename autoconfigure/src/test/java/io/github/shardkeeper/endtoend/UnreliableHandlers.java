package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;

/**
 * Handlers of lists, and of keys at the same time, that count each number in the state;
 * some numbers they can never handle, and some only at a later call.
 */
final class UnreliableHandlers {

	/** Handled in batches, each committed alone; failed records become dead letters. */
	static final String LISTS = "lists";

	/** Handled key by key at the same time, with a retry queue. */
	static final String KEYS = "keys";

	/** Handled key by key at the same time, and failing keys wait. */
	static final String PARKED = "parked";

	/** Entry of the state that counts records after later ones of their keys. */
	static final String OVERTAKEN = "overtaken";

	static final int SHARDS = 4;

	static final List<String> ARGUMENTS = List.of("--trace.unreliable=true",
			"--shardkeeper.topics." + LISTS + ".shards=" + SHARDS,
			"--shardkeeper.topics." + LISTS + ".consumer.commit.mode=batch",
			"--shardkeeper.topics." + LISTS + ".consumer.batch-size=20",
			"--shardkeeper.topics." + LISTS + ".consumer.retry.max-attempts=2",
			"--shardkeeper.topics." + LISTS + ".consumer.retry.initial-interval=50ms",
			"--shardkeeper.topics." + KEYS + ".shards=" + SHARDS,
			"--shardkeeper.topics." + KEYS + ".consumer.ordering=key",
			"--shardkeeper.topics." + KEYS + ".consumer.concurrency=4",
			"--shardkeeper.topics." + KEYS + ".consumer.max-ahead=50",
			"--shardkeeper.topics." + KEYS + ".consumer.retry.max-attempts=2",
			"--shardkeeper.topics." + KEYS + ".consumer.retry.initial-interval=50ms",
			"--shardkeeper.topics." + KEYS + ".consumer.on-failure=retry-queue",
			"--shardkeeper.topics." + KEYS + ".consumer.retry-queue.delays=300ms,1s",
			"--shardkeeper.topics." + PARKED + ".shards=" + SHARDS,
			"--shardkeeper.topics." + PARKED + ".consumer.ordering=key",
			"--shardkeeper.topics." + PARKED + ".consumer.concurrency=4",
			"--shardkeeper.topics." + PARKED + ".consumer.max-ahead=50",
			"--shardkeeper.topics." + PARKED + ".consumer.retry.max-attempts=2",
			"--shardkeeper.topics." + PARKED + ".consumer.retry.initial-interval=50ms",
			"--shardkeeper.topics." + PARKED + ".consumer.on-failure=park-key",
			"--shardkeeper.topics." + PARKED + ".consumer.park-key.max-keys=3",
			"--shardkeeper.topics." + PARKED + ".consumer.park-key.max-records=20",
			"--shardkeeper.topics." + PARKED + ".consumer.park-key.after-delays=dead-letter",
			"--shardkeeper.topics." + PARKED + ".consumer.retry-queue.delays=300ms,1s");

	private static final int LONGEST_WORK_MILLIS = 20;

	private final Map<String, Integer> calls = new ConcurrentHashMap<>();

	/** Whether a number can never be handled. */
	static boolean isPoison(long number) {
		return number % 50 == 7;
	}

	/** Name of the state entry that counts a number. */
	static String key(long number) {
		return "n" + number;
	}

	@ShardConsumer(LISTS)
	void handle(List<String> numbers, ShardContext context, ShardState state) throws InterruptedException {
		for (String number : numbers) {
			state.increment(key(Long.parseLong(number)), 1);
		}
		work();
		for (String number : numbers) {
			fail(context, Long.parseLong(number));
		}
	}

	@ShardConsumer(KEYS)
	void handle(String number, ShardContext context, ShardState state) throws InterruptedException {
		state.increment(key(Long.parseLong(number)), 1);
		state.increment("all", 1);
		work();
		fail(context, Long.parseLong(number));
	}

	@ShardConsumer(PARKED)
	void handleInOrder(ShardRecord<String> record, ShardContext context, ShardState state) throws InterruptedException {
		long number = Long.parseLong(record.payload());
		state.increment(key(number), 1);
		String last = "last " + record.key();
		if (number <= state.get(last, Long.class).orElse(0L)) {
			state.increment(OVERTAKEN, 1);
		}
		state.put(last, number);
		work();
		fail(context, number);
	}

	private static void work() throws InterruptedException {
		TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(LONGEST_WORK_MILLIS + 1));
	}

	/** A number in ten fails at its first three calls in each process. */
	private void fail(ShardContext context, long number) {
		boolean fails = isPoison(number)
				|| number % 10 == 3 && this.calls.merge(context.shard() + "/" + number, 1, Integer::sum) <= 3;
		if (fails) {
			throw new IllegalStateException("Number " + number + ", caused by the test");
		}
	}

}
