package io.github.shardkeeper.endtoend;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStreamCommands;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.operations.GroupReporter;
import io.github.shardkeeper.endtoend.InOneJvmTests.Application;
import io.github.shardkeeper.endtoend.InOneJvmTests.Handler;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two idle instances cost the same commands per second, however many shards they own,
 * with and without samples for meters.
 */
@RunAlone
class IdleCostTests {

	private static final int SECONDS = 8;

	private static final int QUIET_PULSES = 3;

	private static final Set<String> OBSERVED_OR_INNER = Set.of("cmdstat_time", "cmdstat_info", "cmdstat_hget",
			"cmdstat_hmget", "cmdstat_zadd", "cmdstat_zscore", "cmdstat_zrange", "cmdstat_zrevrange",
			"cmdstat_zrangebyscore", "cmdstat_pubsub", "cmdstat_hlen", "cmdstat_zcard", "cmdstat_hset", "cmdstat_hdel",
			"cmdstat_sadd", "cmdstat_exists", "cmdstat_zrangebylex");

	@Test
	void commandsDoNotGrowWithShards() {
		Rates few = perSecond(4);
		Rates many = perSecond(4000);

		System.out.printf(
				"of two idle instances per second: %.1f commands and %.0f bytes with 4 shards, %.1f and %.0f with 4,000%n",
				few.commands(), few.bytes(), many.commands(), many.bytes());
		// Two heartbeats per second and instance, and a pulse of both every four to five
		// seconds.
		assertThat(few.commands()).as("%s", few).isBetween(3.5, 5.0);
		assertThat(many.commands()).as("%s", many).isBetween(few.commands() - 0.5, few.commands() + 0.5);
		// One read would bring 90,000.
		assertThat(many.bytes()).as("%s", many).isLessThan(1.5 * few.bytes());
	}

	/**
	 * Including the commands that scripts call. Each shard has handled a record, so that
	 * it has an offset.
	 */
	@Test
	void samplesForMetersDoNotGrowWithShards() {
		Rates few = sampledPerSecond(4);
		Rates many = sampledPerSecond(1000);

		System.out.printf("of two idle instances that take samples each second: %.1f commands with 4 shards, %.1f with "
				+ "1,000; with inner ones%n", few.commands(), many.commands());
		// Figures of each shard would be 5,000.
		assertThat(many.commands()).as("%s instead of %s", many, few).isLessThan(few.commands() + 5);
	}

	private static Rates sampledPerSecond(int shards) {
		return perSecond(shards, "1s", (connection) -> {
			RedisStreamCommands streams = connection.streamCommands();
			IntStream.range(0, shards)
				.forEach((shard) -> streams.xAdd(
						("shardkeeper:{orders#" + shard % 16 + "}:stream:" + shard).getBytes(StandardCharsets.UTF_8),
						Map.of("k".getBytes(StandardCharsets.UTF_8), "ann".getBytes(StandardCharsets.UTF_8),
								"v".getBytes(StandardCharsets.UTF_8),
								"{\"key\":\"ann\",\"number\":1}".getBytes(StandardCharsets.UTF_8))));
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> IntStream.range(0, shards)
					.allMatch((shard) -> connection.hashCommands()
						.hExists(
								("shardkeeper:{idle/orders/" + shard + "}:checkpoint").getBytes(StandardCharsets.UTF_8),
								"offset".getBytes(StandardCharsets.UTF_8))));
		}, Set.of("cmdstat_time", "cmdstat_info"));
	}

	private static Rates perSecond(int shards) {
		return perSecond(shards, "0s",
				(connection) -> assertThat(connections(connection)).as("four for each instance, one for this observer")
					.isEqualTo(9),
				OBSERVED_OR_INNER);
	}

	private static Rates perSecond(int shards, String sampleInterval, Consumer<RedisConnection> prepare,
			Set<String> uncounted) {
		List<ConfigurableApplicationContext> instances = new ArrayList<>();
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			LettuceConnectionFactory observer = RedisClients.factory(redis);
			try (RedisConnection connection = observer.getConnection()) {
				instances.add(start(redis, shards, sampleInterval));
				instances.add(start(redis, shards, sampleInterval));
				awaitAllConsumed(instances, shards);
				prepare.accept(connection);
				awaitQuiet(connection);
				return observe(connection, uncounted);
			}
			finally {
				instances.forEach(ConfigurableApplicationContext::close);
				observer.destroy();
			}
		}
	}

	private static ConfigurableApplicationContext start(EmbeddedRedis redis, int shards, String sampleInterval) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run("--shardkeeper.group=idle", "--shardkeeper.topics.orders.shards=" + shards,
					"--spring.main.banner-mode=off", "--logging.level.root=warn",
					"--management.metrics.shardkeeper.sample-interval=" + sampleInterval,
					"--spring.data.redis.port=" + redis.port());
	}

	private static void awaitAllConsumed(List<ConfigurableApplicationContext> instances, int shards) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> {
			int started = instances.stream()
				.map((instance) -> instance.getBean(Handler.class))
				.mapToInt((handler) -> handler.assigned.size() - handler.revoked.size())
				.sum();
			return started == shards
					&& instances.get(0)
						.getBean(GroupReporter.class)
						.report()
						.shards()
						.stream()
						.allMatch((shard) -> shard.state().equals("OWNED"))
					&& instances.get(0)
						.getBean(GroupReporter.class)
						.report()
						.members()
						.stream()
						.allMatch((member) -> member.shards() == shards / 2);
		});
	}

	/**
	 * Waits until Redis has seen no read and no entry of the moves' history for several
	 * pulses of four to five seconds: the first reads of a connection are short, and what
	 * owners have done is written ten seconds later if no record comes.
	 */
	private static void awaitQuiet(RedisConnection connection) {
		Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> {
			long pulses = calls(connection, "cmdstat_set");
			long before = calls(connection, "cmdstat_xread") + calls(connection, "cmdstat_xadd");
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> calls(connection, "cmdstat_set") >= pulses + QUIET_PULSES);
			return calls(connection, "cmdstat_xread") + calls(connection, "cmdstat_xadd") == before;
		});
	}

	/** Counted by Redis itself over a time that Redis itself measures. */
	private static Rates observe(RedisConnection connection, Set<String> uncounted) {
		long beginMillis = connection.serverCommands().time();
		Map<String, Long> begin = commands(connection, uncounted);
		long beginBytes = bytes(connection);
		Awaitility.await()
			.pollInterval(Duration.ofSeconds(1))
			.atMost(Duration.ofSeconds(60))
			.until(() -> connection.serverCommands().time() - beginMillis >= SECONDS * 1000);
		double seconds = (connection.serverCommands().time() - beginMillis) / 1000.0;
		Map<String, Long> calls = new TreeMap<>();
		commands(connection, uncounted).forEach((name, count) -> {
			long more = count - begin.getOrDefault(name, 0L);
			if (more > 0) {
				calls.put(name, more);
			}
		});
		return new Rates(calls.values().stream().mapToLong(Long::longValue).sum() / seconds,
				(bytes(connection) - beginBytes) / seconds, calls);
	}

	/** Bytes to Redis, with the few of this observer. */
	private static long bytes(RedisConnection connection) {
		return Long.parseLong(connection.serverCommands().info("stats").getProperty("total_net_input_bytes"));
	}

	private static long calls(RedisConnection connection, String command) {
		return calls(connection.serverCommands().info("commandstats").getProperty(command, "calls=0,"));
	}

	private static int connections(RedisConnection connection) {
		return Integer.parseInt(connection.serverCommands().info("clients").getProperty("connected_clients"));
	}

	/**
	 * All commands but those of this observer ({@code TIME}, {@code INFO}) and those that
	 * the scripts of heartbeat and registration call: they are part of the one command
	 * that it is.
	 */
	private static Map<String, Long> commands(RedisConnection connection, Set<String> uncounted) {
		Properties statistics = connection.serverCommands().info("commandstats");
		return statistics.stringPropertyNames()
			.stream()
			.filter((name) -> !uncounted.contains(name))
			.collect(Collectors.toMap(Function.identity(), (name) -> calls(statistics.getProperty(name))));
	}

	private static long calls(String line) {
		return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
	}

	/**
	 * What two instances send.
	 *
	 * @param commands commands per second
	 * @param bytes bytes per second
	 * @param calls the commands in all of the time by their names
	 */
	private record Rates(double commands, double bytes, Map<String, Long> calls) {

	}

}
