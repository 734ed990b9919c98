package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.endtoend.Bookings.Booking;
import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.jdbc.TestDataPlane;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Database, input and results of {@link Bookings}. Confined to one thread.
 */
final class BookedGroup implements AutoCloseable {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(90);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final EmbeddedRedis redis;

	private final RestartedDatabase database;

	private final DriverManagerDataSource connections;

	private final JdbcClient client;

	private final Map<String, Feeder> feeders = new TreeMap<>();

	/** Starts the database, in a server of its own. */
	BookedGroup(EmbeddedRedis redis, TestDatabase kind, Path directory) {
		this.redis = redis;
		this.database = RestartedDatabase.start(kind, directory);
		this.connections = new DriverManagerDataSource(this.database.url());
		kind.createTables(this.connections);
		this.client = JdbcClient.create(this.connections);
		String number = kind.isMysqlOrMariadb() ? "auto_increment primary key" : "generated always as identity";
		this.client.sql("create table booked (seq bigint " + number
				+ ", shard varchar(50) not null, record_key varchar(50) not null, number bigint not null, call_id varchar(50) not null)")
			.update();
	}

	/** Returns the arguments of an instance. */
	List<String> arguments() {
		return Bookings.arguments(this.database);
	}

	RestartedDatabase database() {
		return this.database;
	}

	/** Returns what the database has of the shards of a group. */
	CheckpointStore checkpoints(String group) {
		return TestDataPlane.create(this.connections, group, InstantSource.system()).checkpoints(null);
	}

	/** Begins to feed. */
	void feed(RedisConnector connector, Duration interval) {
		for (String topic : Bookings.TOPICS) {
			this.feeders.put(topic, new Feeder(connector, topic, Bookings.SHARDS, interval, 1, TIMEOUT));
		}
	}

	void stopFeeding() {
		this.feeders.values().forEach(Feeder::stop);
	}

	/**
	 * Waits until every number has a row, and every row a receipt, and checks that there
	 * are no others, and that they are in order.
	 * @return a summary for people
	 */
	String awaitBookedAndCheck() {
		long[] fed = new long[1];
		this.feeders.forEach((topic, feeder) -> {
			for (int shard = 0; shard < Bookings.SHARDS; shard++) {
				fed[0] += feeder.sent(shard);
				awaitBookedAndCheck(topic, shard, feeder.sent(shard));
			}
		});
		assertThat(count("shardkeeper_dead_letter")).as("dead letters").isZero();
		await("nothing waits in an outbox", () -> assertThat(count("shardkeeper_outbox")).isZero());
		return "bookings: a row and a receipt for each of %d records, once, in the order of its key or shard"
			.formatted(fed[0]);
	}

	private void awaitBookedAndCheck(String topic, int shard, long sent) {
		String name = ShardId.of(topic, shard).toString();
		await(name + " has a row for each number",
				() -> assertThat(rows(name)).hasSizeGreaterThanOrEqualTo((int) sent));
		List<Booking> rows = rows(name);
		assertThat(rows.stream().map(Booking::number)).as("rows of %s", name)
			.containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, sent).boxed().toList());
		await(name + " has a receipt for each row",
				() -> assertThat(receipts(topic, shard)).hasSizeGreaterThanOrEqualTo((int) sent));
		List<String> receipts = receipts(topic, shard);
		assertThat(receipts).as("receipts of the rows of %s", name)
			.containsExactlyInAnyOrderElementsOf(rows.stream().map(Booking::receipt).toList());
		for (List<Booking> ordered : inTheirOrder(topic, rows)) {
			assertThat(ordered.stream().map(Booking::number)).as("order of rows of %s", name).isSorted();
			Set<String> theirs = ordered.stream().map(Booking::receipt).collect(Collectors.toSet());
			assertThat(receipts.stream().filter(theirs::contains)).as("order of receipts of %s", name)
				.containsExactlyElementsOf(ordered.stream().map(Booking::receipt).toList());
		}
	}

	/** Returns the rows of each key, or all rows of the shard. */
	private static Collection<List<Booking>> inTheirOrder(String topic, List<Booking> rows) {
		return topic.equals(Bookings.BY_KEY)
				? rows.stream().collect(Collectors.groupingBy(Booking::key, TreeMap::new, Collectors.toList())).values()
				: List.of(rows);
	}

	private List<Booking> rows(String shard) {
		return this.client.sql("select record_key, number, call_id from booked where shard = ? order by seq")
			.param(shard)
			.query((row, number) -> new Booking(row.getString(1), row.getLong(2), row.getString(3)))
			.list();
	}

	private List<String> receipts(String topic, int shard) {
		return ForwardedGroup.received(this.redis, Bookings.receipts(topic), shard);
	}

	private long count(String table) {
		return this.client.sql("select count(*) from " + table).query(Long.class).single();
	}

	private static void await(String what, ThrowingRunnable assertion) {
		Awaitility.await(what).atMost(LONGEST_WAIT).pollInterval(Duration.ofMillis(500)).untilAsserted(assertion);
	}

	@Override
	public void close() {
		this.feeders.values().forEach(Feeder::close);
		this.database.close();
	}

}
