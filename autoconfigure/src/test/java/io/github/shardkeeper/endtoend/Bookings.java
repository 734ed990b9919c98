package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;

/**
 * Handler that writes a row of a database for each number, in the transaction that also
 * has the offset, key by key at the same time. A few calls fail after they have written.
 *
 * @param client the database
 */
record Bookings(JdbcClient client) {

	static final String TOPIC = "bookings";

	static final int SHARDS = 4;

	private static final int LONGEST_WORK_MILLIS = 20;

	private static final int CALLS_PER_FAILURE = 20;

	/** Returns the arguments of an instance. */
	static List<String> arguments(String database) {
		String topic = "--shardkeeper.topics." + TOPIC;
		return List.of("--trace.bookings=true", topic + ".shards=" + SHARDS, topic + ".consumer.transaction=jdbc",
				topic + ".consumer.ordering=key", topic + ".consumer.concurrency=4",
				topic + ".consumer.retry.max-attempts=50", topic + ".consumer.retry.initial-interval=10ms",
				"--shardkeeper.jdbc.initialize-schema=always", "--shardkeeper.jdbc.lock-wait=2s",
				"--spring.datasource.url=" + database, "--spring.datasource.hikari.connection-timeout=2000",
				// The other tests of this module have no database.
				"--spring.autoconfigure.exclude=");
	}

	@ShardConsumer(TOPIC)
	void book(ShardRecord<String> record, ShardContext context) throws InterruptedException {
		this.client.sql("insert into booked (shard, record_key, number) values (?, ?, ?)")
			.params(context.shard().toString(), String.valueOf(record.key()), Long.parseLong(record.payload()))
			.update();
		ThreadLocalRandom random = ThreadLocalRandom.current();
		TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_WORK_MILLIS + 1));
		if (random.nextInt(CALLS_PER_FAILURE) == 0) {
			throw new IllegalStateException("caused by the test");
		}
	}

}
