package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.shard.ShardId;

/**
 * Handlers that write a row of a database for each number, in the transaction that also
 * has the offset, and send a receipt for the row to the shard of the same id of another
 * topic. One books several keys of a shard at the same time, the other one number after
 * the other. A few calls fail after they have written and sent.
 *
 * @param client the database
 */
record Bookings(JdbcClient client) {

	/** Topic of which several keys are booked at the same time. */
	static final String BY_KEY = "bookings-by-key";

	/** Topic of which each shard is booked in its order. */
	static final String IN_ORDER = "bookings-in-order";

	static final List<String> TOPICS = List.of(BY_KEY, IN_ORDER);

	/** Number of shards of each topic, and of that of its receipts. */
	static final int SHARDS = 4;

	private static final int LONGEST_WORK_MILLIS = 20;

	private static final int CALLS_PER_FAILURE = 20;

	/** Returns the arguments of an instance. */
	static List<String> arguments(RestartedDatabase database) {
		List<String> arguments = database.arguments(false);
		arguments.addAll(List.of("--trace.bookings=true",
				// An instance may be started while the database is away.
				"--shardkeeper.jdbc.initialize-schema=never", "--shardkeeper.jdbc.lock-wait=2s",
				// The other tests of this module have no database.
				"--spring.autoconfigure.exclude="));
		for (String name : TOPICS) {
			String topic = "--shardkeeper.topics." + name;
			arguments.addAll(List.of(topic + ".shards=" + SHARDS, topic + ".consumer.transaction=jdbc",
					topic + ".consumer.retry.max-attempts=50", topic + ".consumer.retry.initial-interval=10ms",
					"--shardkeeper.topics." + receipts(name) + ".shards=" + SHARDS));
		}
		arguments.addAll(List.of("--shardkeeper.topics." + BY_KEY + ".consumer.ordering=key",
				"--shardkeeper.topics." + BY_KEY + ".consumer.concurrency=4"));
		return arguments;
	}

	/** Returns the topic of the receipts, which nobody consumes. */
	static String receipts(String topic) {
		return topic + "-receipts";
	}

	@ShardConsumer(BY_KEY)
	void bookByKey(ShardRecord<String> record, ShardContext context, ShardOutput output) throws InterruptedException {
		book(record, context.shard(), output);
	}

	@ShardConsumer(IN_ORDER)
	void bookInOrder(ShardRecord<String> record, ShardContext context, ShardOutput output) throws InterruptedException {
		book(record, context.shard(), output);
	}

	private void book(ShardRecord<String> record, ShardId shard, ShardOutput output) throws InterruptedException {
		Booking booking = new Booking(String.valueOf(record.key()), Long.parseLong(record.payload()),
				UUID.randomUUID().toString());
		this.client.sql("insert into booked (shard, record_key, number, call_id) values (?, ?, ?, ?)")
			.params(shard.toString(), booking.key(), booking.number(), booking.call())
			.update();
		output.send(receipts(shard.topic()), Outgoing.of(booking.receipt()).toShard(Integer.parseInt(shard.id())));
		ThreadLocalRandom random = ThreadLocalRandom.current();
		TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_WORK_MILLIS + 1));
		if (random.nextInt(CALLS_PER_FAILURE) == 0) {
			throw new IllegalStateException("caused by the test");
		}
	}

	/**
	 * A row.
	 *
	 * @param call the call that has written it; another call for the same number would be
	 * another one
	 */
	record Booking(String key, long number, String call) {

		String receipt() {
			return this.number + " " + this.call;
		}

	}

}
