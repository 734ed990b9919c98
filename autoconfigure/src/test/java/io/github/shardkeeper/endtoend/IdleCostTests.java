package io.github.shardkeeper.endtoend;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
 * Idle instances send the same commands per second, however many shards they own, with
 * and without samples for meters.
 */
@RunAlone
class IdleCostTests {

	private static final int SECONDS = 20;

	/** So long that it makes little difference when periods begin. */
	private static final int MANY_SECONDS = 40;

	private static final int QUIET_PULSES = 3;

	/** Time, database and client; then the command. */
	private static final Pattern SENT = Pattern.compile("^\\+[0-9.]+ \\[\\d+ (?<client>[^]]+)] \"(?<command>\\w+)\"");

	@Test
	void commandsDoNotGrowWithShards() throws IOException {
		Idle few = new Idle(2, 4);
		Idle many = new Idle(2, 4000);
		Rates ofFew = few.perSecond(IdleCostTests::assertFourConnectionsEach, SECONDS);
		Rates ofMany = many.perSecond(IdleCostTests::assertFourConnectionsEach, SECONDS);

		System.out.printf(
				"of two idle instances per second: %.1f commands and %.0f bytes with 4 shards, %.1f and %.0f with 4,000%n",
				ofFew.commands(), ofFew.bytes(), ofMany.commands(), ofMany.bytes());
		// Two heartbeats per second and instance, and a pulse of both every four to five
		// seconds.
		assertThat(ofFew.commands()).as("%s", ofFew).isBetween(4.0, 5.2);
		assertThat(ofMany.commands()).as("%s", ofMany).isBetween(ofFew.commands() - 0.5, ofFew.commands() + 0.5);
		// One read would bring 90,000.
		assertThat(ofMany.bytes()).as("%s", ofMany).isLessThan(1.5 * ofFew.bytes());
	}

	@Test
	void oneInstanceWithManyShardsSendsAtMostTwoAndAHalfCommandsPerSecond() throws IOException {
		Rates rates = new Idle(1, 10_000).perSecond((connection) -> {
		}, MANY_SECONDS);

		System.out.printf("of an idle instance with 10,000 shards per second: %.2f commands%n", rates.commands());
		assertThat(rates.commands()).as("%s", rates).isLessThanOrEqualTo(2.5);
	}

	/** Each shard has handled a record, so that it has an offset. */
	@Test
	void samplesForMetersDoNotGrowWithShards() throws IOException {
		Rates few = sampledPerSecond(4);
		Rates many = sampledPerSecond(1000);

		System.out.printf(
				"of an idle instance that takes a sample each second: %.1f commands with 4 shards, %.1f with 1,000%n",
				few.commands(), many.commands());
		// Figures of each shard would be 4,000.
		assertThat(many.commands()).as("%s instead of %s", many, few).isLessThan(few.commands() + 1);
	}

	private static Rates sampledPerSecond(int shards) throws IOException {
		return new Idle(1, shards, "1s").perSecond((connection) -> {
			RedisStreamCommands streams = connection.streamCommands();
			IntStream.range(0, shards)
				.forEach(
						(shard) -> streams.xAdd(bytes("shardkeeper:{orders#%s}:stream:%s".formatted(shard % 16, shard)),
								Map.of(bytes("k"), bytes("ann"), bytes("v"), bytes("{\"key\":\"ann\",\"number\":1}"))));
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> IntStream.range(0, shards)
					.allMatch((shard) -> connection.hashCommands()
						.hExists(bytes("shardkeeper:{idle/orders/%s}:checkpoint".formatted(shard)), bytes("offset"))));
		}, SECONDS);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static void assertFourConnectionsEach(RedisConnection connection) {
		assertThat(connections(connection)).as("four for each instance, one for this observer").isEqualTo(9);
	}

	private static ConfigurableApplicationContext start(EmbeddedRedis redis, Idle idle) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run("--shardkeeper.group=idle", "--shardkeeper.topics.orders.shards=" + idle.shards,
					"--spring.main.banner-mode=off", "--logging.level.root=warn",
					"--management.metrics.shardkeeper.sample-interval=" + idle.sampleInterval,
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
						.allMatch((member) -> member.shards() == shards / instances.size());
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

	/** Commands that clients send, without those that scripts call. */
	private static Rates observe(int port, RedisConnection connection, int seconds) throws IOException {
		long beginBytes = bytes(connection);
		Map<String, Integer> sent = new TreeMap<>();
		try (Socket socket = new Socket("127.0.0.1", port)) {
			socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
			BufferedReader lines = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
			long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
			for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
				socket.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
				Matcher line = SENT.matcher(lineOf(lines));
				if (line.find() && !line.group("client").equals("lua")) {
					sent.merge(line.group("command").toLowerCase(Locale.ROOT), 1, Integer::sum);
				}
			}
		}
		return new Rates((double) sent.values().stream().mapToInt(Integer::intValue).sum() / seconds,
				(double) (bytes(connection) - beginBytes) / seconds, sent);
	}

	private static String lineOf(BufferedReader lines) throws IOException {
		try {
			return String.valueOf(lines.readLine());
		}
		catch (SocketTimeoutException ex) {
			return "nothing came until the end";
		}
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

	private static long calls(String line) {
		return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
	}

	/**
	 * Instances that do nothing.
	 *
	 * @param sampleInterval time between two samples for meters
	 */
	private record Idle(int instances, int shards, String sampleInterval) {

		Idle(int instances, int shards) {
			this(instances, shards, "0s");
		}

		/**
		 * Returns what they send.
		 * @param prepare runs when all shards are consumed
		 */
		Rates perSecond(Consumer<RedisConnection> prepare, int seconds) throws IOException {
			List<ConfigurableApplicationContext> started = new ArrayList<>();
			try (EmbeddedRedis redis = EmbeddedRedis.start()) {
				LettuceConnectionFactory observer = RedisClients.factory(redis);
				try (RedisConnection connection = observer.getConnection()) {
					for (int i = 0; i < this.instances; i++) {
						started.add(start(redis, this));
					}
					awaitAllConsumed(started, this.shards);
					prepare.accept(connection);
					awaitQuiet(connection);
					return observe(redis.port(), connection, seconds);
				}
				finally {
					started.forEach(ConfigurableApplicationContext::close);
					observer.destroy();
				}
			}
		}

	}

	/**
	 * What instances send.
	 *
	 * @param commands commands per second
	 * @param bytes bytes per second
	 * @param calls the commands in all of the time by their names
	 */
	private record Rates(double commands, double bytes, Map<String, Integer> calls) {

	}

}
