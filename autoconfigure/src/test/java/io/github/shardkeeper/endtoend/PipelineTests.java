package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A pipeline of three topics in three processes, which are killed and frozen, as is
 * Redis: each number comes out once, in the order in which it went in. The outboxes are
 * in Redis, or in PostgreSQL, together with a row for each number; then it is restarted,
 * too. Options are the system properties {@value #DURATION} and {@value #SEED}; logs stay
 * in {@code target/pipeline}.
 */
@Tag("proof")
@Promise("Records exactly once")
class PipelineTests {

	private static final String DURATION = "shardkeeper.pipeline.duration";

	private static final String SEED = "shardkeeper.pipeline.seed";

	private static final int SHARDS = 8;

	private static final List<String> INSTANCES = List.of("p0", "p1", "p2");

	private static final Duration LONGEST_WAIT = Duration.ofMinutes(3);

	private final Path directory = Path.of("target", "pipeline");

	private final Duration duration = DurationStyle.detectAndParse(System.getProperty(DURATION, "15s"));

	private final long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong(1_000_000));

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	/** {@code null} if the outboxes are in Redis. */
	private RestartedDatabase database;

	private Instances instances;

	private Feeder feeder;

	enum Outboxes {

		IN_REDIS, IN_POSTGRESQL

	}

	private void start(Outboxes outboxes) throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
		Path data = Files.createDirectories(this.directory.resolve("redis"));
		// Written before it is answered, so that a killed Redis loses nothing.
		this.redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir",
				data.toAbsolutePath().toString());
		if (outboxes == Outboxes.IN_POSTGRESQL) {
			this.database = RestartedDatabase.start(TestDatabase.POSTGRESQL, this.directory.resolve("postgresql"));
			rows().sql("create table counted (shard varchar(50) not null, number bigint not null)").update();
		}
		this.connections = RedisClients.factory(this.redis);
		this.instances = new Instances(PipelineInstance.class, (instance) -> this.redis.port(), this.directory,
				"pipeline", SHARDS);
		this.feeder = new Feeder(new RedisConnector(this.connections), SHARDS, Duration.ofMillis(100), 1);
	}

	@AfterEach
	void stop() {
		this.instances.close();
		this.feeder.close();
		this.connections.destroy();
		if (this.database != null) {
			this.database.close();
		}
		this.redis.close();
	}

	@ParameterizedTest
	@EnumSource
	void everyNumberComesOutOnceAndInOrder(Outboxes outboxes) throws IOException {
		start(outboxes);
		RandomGenerator random = new Random(this.seed);
		INSTANCES.forEach(this::startInstance);
		awaitResults(1);
		long end = System.nanoTime() + this.duration.toNanos();
		int rounds = 0;
		while (System.nanoTime() < end || rounds < disturbances()) {
			disturb(rounds++, INSTANCES.get(random.nextInt(INSTANCES.size())),
					Duration.ofMillis(200 + random.nextInt(4_000)));
			awaitResults(this.feeder.sent());
		}
		Map<String, Long> fed = this.feeder.stopAll();
		long all = fed.values().stream().mapToLong(Long::longValue).sum();
		awaitResults(this.feeder.sent());
		Awaitility.await()
			.atMost(LONGEST_WAIT)
			.untilAsserted(() -> assertThat(results().values().stream().mapToLong(List::size).sum())
				.isGreaterThanOrEqualTo(all));

		System.out.printf("pipeline, outboxes %s: seed %d, %d rounds, %d numbers%n", outboxes, this.seed, rounds, all);
		results().forEach((shard, numbers) -> assertThat(numbers).as("seed %d, shard %s", this.seed, shard)
			.isEqualTo(LongStream.rangeClosed(1, fed.get(shard)).mapToObj((number) -> number + " " + number).toList()));
		assertThat(results()).hasSize(SHARDS);
		if (this.database != null) {
			fed.forEach((shard,
					last) -> assertThat(rows().sql("select number from counted where shard = ? order by number")
						.param(shard)
						.query(Long.class)
						.list()).as("seed %d, rows of shard %s", this.seed, shard)
						.isEqualTo(LongStream.rangeClosed(1, last).boxed().toList()));
		}
	}

	private JdbcClient rows() {
		return JdbcClient.create(new DriverManagerDataSource(this.database.url()));
	}

	private void startInstance(String name) {
		List<String> settings = new ArrayList<>(List.of("--shardkeeper.topics.counted.shards=4",
				"--shardkeeper.topics.results.shards=2", "--shardkeeper.session.lease=3s",
				"--shardkeeper.session.timeout=6s", "--shardkeeper.consumer.retry.initial-interval=10ms",
				"--logging.level.io.github.shardkeeper=info"));
		if (this.database != null) {
			// Otherwise rows of a frozen process stay locked.
			settings.addAll(this.database.arguments(true));
			settings.addAll(List.of("--shardkeeper.consumer.transaction=jdbc",
					"--shardkeeper.jdbc.initialize-schema=always", "--shardkeeper.jdbc.lock-wait=2s",
					// The other tests of this module have no database.
					"--spring.autoconfigure.exclude="));
		}
		this.instances.start(name, settings.toArray(String[]::new));
	}

	/** The number of kinds. */
	private int disturbances() {
		return (this.database != null) ? 4 : 3;
	}

	/** Each kind in turn, so that even a short run has all of them. */
	private void disturb(int round, String instance, Duration length) {
		switch (round % disturbances()) {
			case 0 -> {
				this.instances.kill(instance);
				this.instances.awaitEnd(instance);
				startInstance(instance);
			}
			case 1 -> {
				this.instances.signal(instance, "STOP");
				// Longer than the session: its shards move, and it wakes up late.
				long moved = this.feeder.sent();
				awaitResults(moved);
				this.instances.signal(instance, "CONT");
			}
			case 2 -> {
				this.redis.kill();
				Awaitility.await().pollDelay(length).until(() -> true);
				this.redis.restart();
			}
			default -> this.database.restart();
		}
	}

	/** Each shard of the first topic has this many results. */
	private void awaitResults(long count) {
		Awaitility.await()
			.atMost(LONGEST_WAIT)
			.pollInterval(Duration.ofMillis(200))
			.ignoreExceptions()
			.untilAsserted(() -> {
				Map<String, List<String>> results = results();
				assertThat(results).hasSize(SHARDS);
				assertThat(results.values()).allSatisfy((numbers) -> assertThat(numbers.size() >= count).isTrue());
			});
	}

	/**
	 * By shard of the first topic: number and count of what has come out, in its order.
	 */
	private Map<String, List<String>> results() {
		Map<String, List<String>> results = new TreeMap<>();
		for (int shard = 0; shard < 2; shard++) {
			String stream = "shardkeeper:{results#%d}:stream:%d".formatted(shard, shard);
			this.redis.call((commands) -> commands.xrange(stream, Range.unbounded()))
				.forEach((entry) -> results.computeIfAbsent(entry.getBody().get("k"), (key) -> new ArrayList<>())
					.add(entry.getBody().get("v").split(" ", 2)[1]));
		}
		return results;
	}

}
