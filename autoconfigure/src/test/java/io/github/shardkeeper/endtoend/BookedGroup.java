package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Database, input and results of {@link Bookings}. Confined to one thread.
 */
final class BookedGroup implements AutoCloseable {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(90);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final RestartedDatabase database;

	private final JdbcClient client;

	private Feeder feeder;

	/** Starts the database, in a server of its own. */
	BookedGroup(TestDatabase kind, Path directory) {
		this.database = RestartedDatabase.start(kind, directory);
		this.client = JdbcClient.create(new DriverManagerDataSource(this.database.url()));
		this.client
			.sql("create table booked (seq bigint generated always as identity, shard varchar(50) not null, "
					+ "record_key varchar(50) not null, number bigint not null)")
			.update();
	}

	/** Returns the arguments of an instance. */
	List<String> arguments() {
		return Bookings.arguments(this.database.url());
	}

	/** Begins to feed. */
	void feed(RedisConnector connector, Duration interval) {
		this.feeder = new Feeder(connector, Bookings.TOPIC, Bookings.SHARDS, interval, 1, TIMEOUT);
	}

	void stopFeeding() {
		this.feeder.stop();
	}

	/**
	 * Waits until every number has a row, and checks that it has one, and that rows of a
	 * key are in order.
	 * @return a summary for people
	 */
	String awaitBookedAndCheck() {
		long fed = 0;
		for (int shard = 0; shard < Bookings.SHARDS; shard++) {
			String name = ShardId.of(Bookings.TOPIC, shard).toString();
			long sent = this.feeder.sent(shard);
			fed += sent;
			Awaitility.await(name + " has a row for each number")
				.atMost(LONGEST_WAIT)
				.pollInterval(Duration.ofMillis(500))
				.untilAsserted(() -> assertThat(numbers(name)).hasSizeGreaterThanOrEqualTo((int) sent));
			assertThat(numbers(name)).as(name)
				.containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, sent).boxed().toList());
			assertThat(byKey(name))
				.allSatisfy((key, numbers) -> assertThat(numbers).as("%s, key %s", name, key).isSorted());
		}
		assertThat(this.client.sql("select count(*) from shardkeeper_dead_letter").query(Long.class).single())
			.as("dead letters of %s", Bookings.TOPIC)
			.isZero();
		return "bookings: a row for each of %d records, in the order of its key".formatted(fed);
	}

	private List<Long> numbers(String shard) {
		return this.client.sql("select number from booked where shard = ?").param(shard).query(Long.class).list();
	}

	private Map<String, List<Long>> byKey(String shard) {
		Map<String, List<Long>> numbers = new TreeMap<>();
		this.client.sql("select record_key, number from booked where shard = ? order by seq")
			.param(shard)
			.query((row) -> {
				numbers.computeIfAbsent(row.getString(1), (key) -> new ArrayList<>()).add(row.getLong(2));
			});
		return numbers;
	}

	@Override
	public void close() {
		if (this.feeder != null) {
			this.feeder.close();
		}
		this.database.close();
	}

}
