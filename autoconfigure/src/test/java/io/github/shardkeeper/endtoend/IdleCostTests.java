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
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStreamCommands;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.endtoend.InOneJvmTests.Application;
import io.github.shardkeeper.endtoend.InOneJvmTests.Handler;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Idle instances send the same commands per second, however many shards they own, with
 * and without samples for meters. Groups of all sizes are observed at the same time, each
 * on a Redis of its own, when the last of them has become quiet.
 */
@RunAlone
@TestInstance(Lifecycle.PER_CLASS)
@Promise("Flat cost")
class IdleCostTests {

	/** So long that it makes little difference when periods begin. */
	private static final int SECONDS = 20;

	private static final int QUIET_PULSES = 3;

	/** Time, database and client; then the command. */
	private static final Pattern SENT = Pattern.compile("^\\+[0-9.]+ \\[\\d+ (?<client>[^]]+)] \"(?<command>\\w+)\"");

	private final List<Idle> groups = new ArrayList<>();

	private final Idle few = idle(2, 4, "0s");

	private final Idle many = idle(2, 4000, "0s");

	private final Idle one = idle(1, 10_000, "0s");

	private final Idle fewSampled = idle(1, 4, "1s");

	private final Idle manySampled = idle(1, 1000, "1s");

	private Idle idle(int instances, int shards, String sampleInterval) {
		Idle group = new Idle(instances, shards, sampleInterval);
		this.groups.add(group);
		return group;
	}

	@BeforeAll
	void observeIdleGroups() throws Exception {
		this.groups.forEach(Idle::start);
		this.groups.forEach(Idle::awaitAllConsumed);
		this.fewSampled.handleOneRecordPerShard();
		this.manySampled.handleOneRecordPerShard();
		// One of the first reads lasts for two minutes, and may end meanwhile; those that
		// follow last for hours.
		List<Idle> observed = this.groups;
		for (int times = 1; times <= 3 && !observed.isEmpty(); times++) {
			awaitQuiet();
			observe(observed);
			observed = observed.stream().filter((group) -> group.rates.calls().containsKey("xread")).toList();
		}
	}

	private static void observe(List<Idle> groups) throws Exception {
		ExecutorService observers = Executors.newFixedThreadPool(groups.size());
		try {
			for (Future<Rates> observed : observers.invokeAll(groups)) {
				observed.get();
			}
		}
		finally {
			observers.shutdown();
		}
	}

	@AfterAll
	void stop() {
		this.groups.forEach(Idle::stop);
	}

	@Test
	void commandsDoNotGrowWithShards() {
		Rates ofFew = this.few.rates;
		Rates ofMany = this.many.rates;

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
	void connectionsDoNotGrowWithShards() {
		assertThat(this.few.connections).as("four for each instance, one for this observer").isEqualTo(9);
		assertThat(this.many.connections).isEqualTo(9);
	}

	@Test
	void oneInstanceWithManyShardsSendsAtMostTwoAndAHalfCommandsPerSecond() {
		Rates rates = this.one.rates;

		System.out.printf("of an idle instance with 10,000 shards per second: %.2f commands%n", rates.commands());
		// A period of one more may begin within the time that is observed: 51 commands
		// in 20 s.
		assertThat(rates.commands()).as("%s", rates).isLessThanOrEqualTo(2.5 + 1.0 / SECONDS);
	}

	/** Each shard has handled a record, so that it has an offset. */
	@Test
	void samplesForMetersDoNotGrowWithShards() {
		Rates ofFew = this.fewSampled.rates;
		Rates ofMany = this.manySampled.rates;

		System.out.printf(
				"of an idle instance that takes a sample each second: %.1f commands with 4 shards, %.1f with 1,000%n",
				ofFew.commands(), ofMany.commands());
		// Figures of each shard would be 4,000.
		assertThat(ofMany.commands()).as("%s instead of %s", ofMany, ofFew).isLessThan(ofFew.commands() + 1);
	}

	/**
	 * Waits until no Redis has seen a read or an entry of the moves' history for several
	 * pulses of four to five seconds: the first reads of a connection are short, and what
	 * owners have done is written ten seconds later if no record comes.
	 */
	private void awaitQuiet() {
		Awaitility.await().atMost(Duration.ofSeconds(180)).until(() -> {
			List<Long> pulses = this.groups.stream().map(Idle::pulses).toList();
			List<Long> before = this.groups.stream().map(Idle::readsAndEntries).toList();
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> IntStream.range(0, pulses.size())
					.allMatch((i) -> this.groups.get(i).pulses() >= pulses.get(i) + QUIET_PULSES));
			return this.groups.stream().map(Idle::readsAndEntries).toList().equals(before);
		});
	}

	private static String lineOf(BufferedReader lines) throws IOException {
		try {
			return String.valueOf(lines.readLine());
		}
		catch (SocketTimeoutException ex) {
			return "nothing came until the end";
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** Instances that do nothing; when called, they are observed. */
	private static final class Idle implements Callable<Rates> {

		private final int size;

		private final int shards;

		/** Time between two samples for meters. */
		private final String sampleInterval;

		private final EmbeddedRedis redis = EmbeddedRedis.start();

		private final LettuceConnectionFactory observer = RedisClients.factory(this.redis);

		private final RedisConnection connection = this.observer.getConnection();

		private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

		private int connections;

		private Rates rates;

		private Idle(int size, int shards, String sampleInterval) {
			this.size = size;
			this.shards = shards;
			this.sampleInterval = sampleInterval;
		}

		void start() {
			for (int i = 0; i < this.size; i++) {
				this.instances.add(new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
					.registerShutdownHook(false)
					.run("--shardkeeper.group=idle", "--shardkeeper.topics.orders.shards=" + this.shards,
							"--spring.main.banner-mode=off", "--logging.level.root=warn",
							"--management.metrics.shardkeeper.sample-interval=" + this.sampleInterval,
							"--spring.data.redis.port=" + this.redis.port()));
			}
		}

		void stop() {
			this.instances.forEach(ConfigurableApplicationContext::close);
			this.connection.close();
			this.observer.destroy();
			this.redis.close();
		}

		void awaitAllConsumed() {
			GroupReporter reporter = this.instances.get(0).getBean(GroupReporter.class);
			Awaitility.await().atMost(Duration.ofSeconds(120)).until(() -> {
				int started = this.instances.stream()
					.map((instance) -> instance.getBean(Handler.class))
					.mapToInt((handler) -> handler.assigned.size() - handler.revoked.size())
					.sum();
				GroupReport report = reporter.report();
				return started == this.shards
						&& report.shards().stream().allMatch((shard) -> shard.state().equals("OWNED"))
						&& report.members().stream().allMatch((member) -> member.shards() == this.shards / this.size);
			});
		}

		void handleOneRecordPerShard() {
			RedisStreamCommands streams = this.connection.streamCommands();
			IntStream.range(0, this.shards)
				.forEach(
						(shard) -> streams.xAdd(bytes("shardkeeper:{orders#%s}:stream:%s".formatted(shard % 16, shard)),
								Map.of(bytes("k"), bytes("ann"), bytes("v"), bytes("{\"key\":\"ann\",\"number\":1}"))));
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> IntStream.range(0, this.shards)
					.allMatch((shard) -> this.connection.hashCommands()
						.hExists(bytes("shardkeeper:{idle/orders/%s}:checkpoint".formatted(shard)), bytes("offset"))));
		}

		long pulses() {
			return calls("cmdstat_set");
		}

		long readsAndEntries() {
			return calls("cmdstat_xread") + calls("cmdstat_xadd");
		}

		/** Commands that clients send, without those that scripts call. */
		@Override
		public Rates call() throws IOException {
			this.connections = Integer.parseInt(info("clients").getProperty("connected_clients"));
			long beginBytes = inputBytes();
			Map<String, Integer> sent = new TreeMap<>();
			try (Socket socket = new Socket("127.0.0.1", this.redis.port())) {
				socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
				BufferedReader lines = new BufferedReader(
						new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
				long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
				for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
					socket.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
					Matcher line = SENT.matcher(lineOf(lines));
					if (line.find() && !line.group("client").equals("lua")) {
						sent.merge(line.group("command").toLowerCase(Locale.ROOT), 1, Integer::sum);
					}
				}
			}
			this.rates = new Rates((double) sent.values().stream().mapToInt(Integer::intValue).sum() / SECONDS,
					(double) (inputBytes() - beginBytes) / SECONDS, sent);
			return this.rates;
		}

		/** Bytes to Redis, with the few of this observer. */
		private long inputBytes() {
			return Long.parseLong(info("stats").getProperty("total_net_input_bytes"));
		}

		private long calls(String command) {
			String line = info("commandstats").getProperty(command, "calls=0,");
			return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
		}

		private Properties info(String section) {
			return this.connection.serverCommands().info(section);
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
