package io.github.shardkeeper.redis.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.FaultyProxy;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.Appends;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads that a reader sends. Without records it names its streams once, in a read that
 * blocks for hours: what ends it, and what watches its connection meanwhile. Without
 * these, no test of it would end in time. While replies are long it reads in halves.
 */
@Tag("proof")
class RedisStreamReaderTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId OTHER = ShardId.of("orders", 1);

	private static final List<ShardId> ALL = IntStream.range(0, 4)
		.mapToObj((number) -> ShardId.of("orders", number))
		.toList();

	/** Records of a shard, for several long replies. */
	private static final int MANY = 3_000;

	/** Shorter than it is, so that a test need not wait for it. */
	private static final Duration PULSE_INTERVAL = Duration.ofMillis(200);

	private static final String SHORT = "2000";

	private static final String LONG = "120000";

	/** They take longer than a short read does. */
	private static final int PULSES_PER_READ = 12;

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final List<LettuceConnectionFactory> factories = new ArrayList<>();

	private final List<RedisConnector> connectors = new ArrayList<>();

	private final List<String> failures = new CopyOnWriteArrayList<>();

	private RedisConnector connector;

	private RedisLink<byte[]> link;

	private Reads reads;

	private RedisStreamSource source;

	private RedisStreamReader reader;

	private Thread polling;

	@BeforeEach
	void connect() throws IOException {
		this.reads = new Reads(this.redis.port());
		this.connector = connector(this.redis.port(), ClientOptions.create());
		this.link = this.connector.dataLink(Duration.ofSeconds(5));
		this.source = new RedisStreamSource(this.connector, "idle", Map.of("orders", 4), Duration.ofSeconds(5));
	}

	@AfterEach
	void close() throws InterruptedException, IOException {
		this.reads.close();
		if (this.polling != null) {
			this.polling.interrupt();
			this.polling.join();
			this.reader.close();
		}
		this.source.close();
		this.connectors.forEach(RedisConnector::stop);
		this.factories.forEach(LettuceConnectionFactory::destroy);
		this.redis.close();
	}

	@Test
	@OnEveryRedis
	void idleStreamsAreNamedOnce() {
		poll(this.connector);
		RecordingSink sink = start(SHARD);
		awaitLongRead();
		int reads = this.reads.blocks.size();
		long pulses = calls("set");
		awaiting().until(() -> calls("set") >= pulses + PULSES_PER_READ);
		assertThat(this.reads.blocks).hasSize(reads);

		append(SHARD);

		assertThat(sink.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
	}

	/**
	 * A pulse does not show whether the connection still takes a read: only the reply to
	 * the one before does, which therefore is a short one.
	 */
	@Test
	void readsBlockForLongOnlyAfterAShortOneWithoutRecords() {
		poll(this.connector);
		RecordingSink sink = start(SHARD);
		awaitLongRead();
		List<String> first = List.copyOf(this.reads.blocks);
		assertThat(first).startsWith("10", SHORT).endsWith(SHORT, LONG);

		append(SHARD);

		assertThat(sink.await(1)).hasSize(1);
		awaiting().until(() -> this.reads.blocks.size() > first.size());
		awaitLongRead();
		assertThat(this.reads.blocks.subList(first.size(), this.reads.blocks.size())).startsWith(SHORT).endsWith(LONG);
	}

	@Test
	void readsEndBeforeATimeLimitOfAllCommands() {
		Duration limit = Duration.ofSeconds(1);
		poll(connector(this.redis.port(),
				ClientOptions.builder().timeoutOptions(TimeoutOptions.enabled(limit)).build()));
		RecordingSink sink = start(SHARD);

		awaiting().until(() -> calls("xread") >= 6 || !this.failures.isEmpty());

		append(SHARD);
		assertThat(sink.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
	}

	@Test
	void pulsesAreSharedByAllReaders() {
		poll(this.connector);
		start(SHARD);
		awaitLongRead();
		RedisConnector second = connector(this.redis.port(), ClientOptions.create());
		RedisStreamReader other = reader(second);
		other.start(OTHER, null, new RecordingSink(true));
		Thread pollingToo = startPolling(other);
		try {
			awaiting().until(() -> clients("xread") == 2);
			long reads = calls("xread");
			long pulses = calls("set");
			awaiting().until(() -> calls("set") >= pulses + PULSES_PER_READ);

			// The second one may still make a short read and then a long one.
			assertThat(calls("xread")).isLessThanOrEqualTo(reads + 2);
		}
		finally {
			pollingToo.interrupt();
			other.close();
		}
	}

	/** Nothing else reads them here: a pulse delays the next look. */
	@Test
	void pulseBringsTheNumberOfShards() {
		this.source.topics();
		poll(this.connector);
		start(SHARD);
		awaitLongRead();

		new RedisStreamSource(this.connector, "idle", Map.of("orders", 4), Duration.ofSeconds(5)).raise("orders", 6);

		awaiting().until(() -> this.source.topics().equals(Map.of("orders", TopicShards.count(6))));
	}

	@Test
	void pulseNeedsNoNumberOfShards() {
		this.source.topics();
		poll(this.connector);
		RecordingSink sink = start(SHARD);
		awaitLongRead();
		this.redis.call((commands) -> commands.set("idle:{orders}:topic", "no hash"));
		long pulses = calls("set");

		awaiting().until(() -> calls("set") >= pulses + PULSES_PER_READ);

		append(SHARD);
		assertThat(sink.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
		assertThat(this.connector.refusedOperations().reasons()).isEmpty();
	}

	@Test
	@OnEveryRedis
	void shardStartedDuringALongReadIsReadAtOnce() {
		append(OTHER);
		poll(this.connector);
		start(SHARD);
		awaitLongRead();

		assertThat(start(OTHER).await(1)).hasSize(1);

		assertThat(this.failures).isEmpty();
	}

	@Test
	void idleStreamsThatAreStoppedEndNoReadAndAreNotHeldByIt() {
		poll(this.connector);
		WeakReference<RecordingSink> stopped = new WeakReference<>(start(SHARD));
		RecordingSink other = start(OTHER);
		awaitLongRead();
		List<String> before = List.copyOf(this.reads.blocks);

		this.reader.stop(SHARD);

		awaiting().until(() -> {
			System.gc();
			return stopped.get() == null;
		});
		assertThat(this.reads.blocks).isEqualTo(before);
		// A record of the stopped stream ends the read, and harms nothing.
		append(SHARD);
		awaiting().until(() -> this.reads.blocks.size() > before.size());
		append(OTHER);
		assertThat(other.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
	}

	@Test
	@OnEveryRedis
	void shardIsReadAlsoWhereAReadMayNotBeWoken() {
		append(OTHER);
		poll(this.connector);
		start(SHARD);
		awaitLongRead();
		permit("-client|unblock");

		assertThat(start(OTHER).await(1)).hasSize(1);

		assertThat(this.failures).isEmpty();
		assertThat(this.connector.refusedOperations().reasons().toString()).contains("start reading",
				"+client|unblock");
		awaitShortReads();
		permit("+client|unblock");
		append(ShardId.of("orders", 2));
		assertThat(start(ShardId.of("orders", 2)).await(1)).hasSize(1);
		awaitLongRead();
		assertThat(this.connector.refusedOperations().reasons()).isEmpty();
	}

	@Test
	@OnEveryRedis
	void readsAreShortWhereKeysMayNotBeFollowed() {
		permit("-client|tracking");
		poll(this.connector);
		start(SHARD);

		awaitShortReads();

		assertThat(calls("set")).isZero();
		assertThat(this.failures).isEmpty();
		awaiting().untilAsserted(() -> assertThat(this.connector.refusedOperations().reasons().toString())
			.contains("longer than 2 s", "+client|tracking"));
		permit("+client|tracking");
		awaitLongRead();
		assertThat(this.connector.refusedOperations().reasons()).isEmpty();
	}

	@Test
	@OnEveryRedis
	void readsAreShortOnceThePulseIsRefused() {
		poll(this.connector);
		RecordingSink sink = start(SHARD);
		awaitLongRead();

		permit("-set");

		awaitShortReads();
		append(SHARD);
		assertThat(sink.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
		permit("+set");
		awaitLongRead();
	}

	@Test
	void readsAreShortWithoutPushes() {
		poll(connector(this.redis.port(), ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build()));
		RecordingSink sink = start(SHARD);
		awaiting().until(() -> calls("set") >= 2);

		awaitShortReads();

		append(SHARD);
		assertThat(sink.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
	}

	@Test
	void silentConnectionOfALongReadIsReplaced() {
		try (FaultyProxy network = new FaultyProxy(this.redis.port(), "{nothing}")) {
			// Only the connection of the read: pulses are written as before.
			poll(connector(network.port(), ClientOptions.create()));
			RecordingSink sink = start(SHARD);
			awaitLongRead();

			network.disturb(Disturbance.hold(Disturbance.ALL));
			append(SHARD);

			awaiting().until(() -> !this.failures.isEmpty());
			assertThat(this.failures.get(0)).contains("the connection of a blocking read was lost");
			network.heal();
			assertThat(sink.await(1)).hasSize(1);
			awaitLongRead();
		}
	}

	@Test
	void readIsNotLostWhileRedisHangsBriefly() {
		poll(this.connector);
		RecordingSink sink = start(SHARD);
		awaitLongRead();
		List<String> before = ids("xread");

		// As long as a script or a fork may take.
		this.redis.call((commands) -> commands.clientPause(1_000));
		long pulses = calls("set");
		awaiting().until(() -> calls("set") >= pulses + PULSES_PER_READ);

		append(SHARD);
		assertThat(sink.await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
		assertThat(ids("xread")).hasSize(1).isEqualTo(before);
	}

	@Test
	@OnEveryRedis
	void replacedStreamIsFoundDuringALongRead() {
		append(SHARD);
		poll(this.connector);
		start(SHARD).await(1);
		awaitLongRead();

		String stream = "idle:{orders#0}:stream:0";
		this.redis.call((commands) -> commands.del(stream));
		this.redis.call((commands) -> commands.set(stream, "no stream"));

		awaiting().untilAsserted(() -> assertThat(this.reader.problems()).containsOnlyKeys(SHARD));
		RecordingSink other = start(OTHER);
		awaitLongRead();
		this.redis.call((commands) -> commands.del(stream));
		append(SHARD);
		awaiting().untilAsserted(() -> assertThat(this.reader.problems()).isEmpty());
		append(OTHER);
		assertThat(other.await(1)).hasSize(1);
	}

	@Test
	void closingDoesNotWaitForALongRead() throws InterruptedException {
		poll(this.connector);
		start(SHARD);
		awaitLongRead();

		this.polling.interrupt();
		this.polling.join();
		this.reader.close();

		awaiting().until(() -> clients("xread") == 0);
	}

	@Test
	void longAnswersAreReadInHalves() {
		ALL.forEach((shard) -> append(shard, MANY));
		this.reader = reader(this.connector);
		List<RecordingSink> sinks = new ArrayList<>(ALL.subList(0, 3).stream().map(this::start).toList());
		this.polling = startPolling(this.reader);
		awaiting().until(() -> sinks.get(0).delivered() > ReadSize.MAX_RECORDS);
		sinks.add(start(ALL.get(3)));

		sinks.forEach((sink) -> assertAll(sink.await(MANY)));

		awaitLongRead();
		assertThat(sinks).allSatisfy((sink) -> assertThat(sink.pending()).isEmpty());
		assertThat(this.reads.withoutBlock).isNotEmpty()
			.allSatisfy((streams) -> assertThat(streams).isLessThan(ALL.size()));
		assertThat(this.failures).isEmpty();
	}

	@Test
	void longAnswersOfOneStreamAmongIdleOnesAreRead() {
		append(OTHER, MANY);
		this.reader = reader(this.connector);
		List<RecordingSink> sinks = ALL.stream().map(this::start).toList();
		this.polling = startPolling(this.reader);

		assertAll(sinks.get(1).await(MANY));

		awaitLongRead();
		long reads = calls("xread");
		long pulses = calls("set");
		awaiting().until(() -> calls("set") >= pulses + PULSES_PER_READ);
		assertThat(calls("xread")).isEqualTo(reads);
		append(SHARD);
		assertThat(sinks.get(0).await(1)).hasSize(1);
		assertThat(this.failures).isEmpty();
	}

	@Test
	void streamThatIsStoppedAndStartedAgainWhileAnswersAreLongIsReadFromItsNewPosition() {
		ALL.forEach((shard) -> append(shard, MANY));
		this.reader = reader(this.connector);
		List<RecordingSink> sinks = ALL.stream().map(this::start).toList();
		this.polling = startPolling(this.reader);
		awaiting().until(() -> sinks.get(0).delivered() > ReadSize.MAX_RECORDS);

		this.reader.stop(SHARD);
		RecordingSink again = start(SHARD);

		assertAll(again.await(MANY));
		sinks.subList(1, 4).forEach((sink) -> assertAll(sink.await(MANY)));
		awaitLongRead();
		assertThat(again.pending()).isEmpty();
		assertThat(this.failures).isEmpty();
	}

	@Test
	void streamsWithoutRoomAreReadOnceTheyAreResumed() {
		ALL.forEach((shard) -> append(shard, MANY));
		this.reader = reader(this.connector);
		List<RecordingSink> sinks = ALL.stream().map((shard) -> {
			RecordingSink sink = new RecordingSink(false);
			this.reader.start(shard, null, sink);
			return sink;
		}).toList();
		this.polling = startPolling(this.reader);

		awaiting().pollInterval(Duration.ofMillis(5)).until(() -> {
			ALL.forEach(this.reader::resume);
			return sinks.stream().allMatch((sink) -> sink.delivered() >= MANY);
		});

		sinks.forEach((sink) -> assertAll(sink.await(MANY)));
		assertThat(sinks).allSatisfy((sink) -> assertThat(sink.pending()).isEmpty());
		assertThat(this.failures).isEmpty();
	}

	@Test
	void streamThatCannotBeReadDoesNotStopTheOtherHalf() {
		ALL.forEach((shard) -> append(shard, MANY));
		this.reader = reader(this.connector);
		List<RecordingSink> sinks = ALL.stream().map((shard) -> {
			RecordingSink sink = new RecordingSink(true);
			// Has no room in the midst of long replies.
			this.reader.start(shard, null,
					(records) -> sink.offer(records) && sink.delivered() < 2 * ReadSize.MAX_RECORDS);
			return sink;
		}).toList();
		this.polling = startPolling(this.reader);
		awaiting().until(() -> sinks.stream().allMatch((sink) -> sink.delivered() >= 2 * ReadSize.MAX_RECORDS));

		String stream = "idle:{orders#3}:stream:3";
		this.redis.call((commands) -> commands.del(stream));
		this.redis.call((commands) -> commands.set(stream, "no stream"));
		awaiting().pollInterval(Duration.ofMillis(5)).until(() -> {
			ALL.forEach(this.reader::resume);
			return sinks.subList(0, 3).stream().allMatch((sink) -> sink.delivered() >= MANY);
		});

		sinks.subList(0, 3).forEach((sink) -> assertAll(sink.await(MANY)));
		awaiting().untilAsserted(() -> assertThat(this.reader.problems()).containsOnlyKeys(ALL.get(3)));
		assertThat(sinks.subList(0, 3)).allSatisfy((sink) -> assertThat(sink.pending()).isEmpty());
	}

	/** In their order, each of them once. */
	private static void assertAll(List<SourceRecord> records) {
		assertThat(records).extracting(SourceRecord::key)
			.containsExactlyElementsOf(IntStream.range(0, MANY).mapToObj(Integer::toString).toList());
	}

	private void append(ShardId shard, int count) {
		Appends.append(this.source,
				IntStream.range(0, count)
					.mapToObj((number) -> new NewRecord(shard, Integer.toString(number), new byte[1]))
					.toList());
	}

	private RedisConnector connector(int port, ClientOptions options) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder().clientOptions(options).build());
		factory.afterPropertiesSet();
		factory.start();
		this.factories.add(factory);
		RedisConnector created = new RedisConnector(factory);
		this.connectors.add(created);
		return created;
	}

	/** Opens the reader, on its own way to Redis, and polls it. */
	private void poll(RedisConnector forReads) {
		this.reader = reader(forReads);
		this.polling = startPolling(this.reader);
	}

	private RedisStreamReader reader(RedisConnector forReads) {
		return new RedisStreamReader(forReads, this.link, (shard) -> "",
				(shard) -> "idle:{orders#%s}:stream:%1$s".formatted(shard.id()), this.source.pulse(PULSE_INTERVAL),
				() -> {
				});
	}

	private Thread startPolling(RedisStreamReader polled) {
		Thread thread = new Thread(() -> {
			while (!Thread.currentThread().isInterrupted()) {
				try {
					polled.poll();
				}
				catch (StoreUnavailableException ex) {
					this.failures.add(String.valueOf(ex.getMessage()));
				}
				catch (InterruptedException ex) {
					return;
				}
			}
		}, "polling");
		thread.start();
		return thread;
	}

	private RecordingSink start(ShardId shard) {
		RecordingSink sink = new RecordingSink(true);
		this.reader.start(shard, null, sink);
		return sink;
	}

	private void append(ShardId shard) {
		Appends.append(this.source, List.of(new NewRecord(shard, "k", new byte[1])));
	}

	/** Waits until the last read is a long one. */
	private void awaitLongRead() {
		awaiting().until(() -> {
			List<String> blocks = List.copyOf(this.reads.blocks);
			return !blocks.isEmpty() && blocks.get(blocks.size() - 1).equals(LONG);
		});
	}

	/** Waits until one short read follows another. */
	private void awaitShortReads() {
		int before = this.reads.blocks.size();
		awaiting().until(() -> {
			List<String> blocks = List.copyOf(this.reads.blocks);
			return blocks.size() >= before + 2
					&& blocks.subList(blocks.size() - 2, blocks.size()).equals(List.of(SHORT, SHORT));
		});
	}

	private static ConditionFactory awaiting() {
		return Awaitility.await().atMost(Duration.ofSeconds(60));
	}

	/** Calls of a command, as Redis counts them. */
	private long calls(String command) {
		Matcher line = Pattern.compile("cmdstat_%s:calls=(\\d+)".formatted(command))
			.matcher(this.redis.call((commands) -> commands.info("commandstats")));
		return line.find() ? Long.parseLong(line.group(1)) : 0;
	}

	private int clients(String lastCommand) {
		return ids(lastCommand).size();
	}

	private List<String> ids(String lastCommand) {
		return this.redis.call((commands) -> commands.clientList())
			.lines()
			.filter((line) -> line.contains("cmd=" + lastCommand + " "))
			.map((line) -> line.substring(0, line.indexOf(' ')))
			.toList();
	}

	private void permit(String rule) {
		CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("default");
		rules(rule).forEach(arguments::add);
		this.redis
			.call((commands) -> commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments));
	}

	/** Redis 6.2 can only grant subcommands one by one. */
	private static List<String> rules(String rule) {
		String removed = rule.startsWith("-client|") ? rule.substring(1) : "";
		if (removed.isEmpty()) {
			return rule.startsWith("+client|") ? List.of("+client") : List.of(rule);
		}
		List<String> rules = new ArrayList<>(List.of("-client"));
		Stream.of("client|id", "client|unblock", "client|tracking", "client|list")
			.filter((other) -> !other.equals(removed))
			.forEach((other) -> rules.add("+" + other));
		return rules;
	}

	/** Reads as Redis receives them. */
	private static final class Reads implements AutoCloseable {

		private static final Pattern READ = Pattern
			.compile("\"XREAD\" \"COUNT\" \"\\d+\" (?:\"BLOCK\" \"(\\d+)\" )?\"STREAMS\" (.*)");

		/** The milliseconds for which reads may block. */
		private final List<String> blocks = new CopyOnWriteArrayList<>();

		/** The number of streams of reads that do not block. */
		private final List<Integer> withoutBlock = new CopyOnWriteArrayList<>();

		private final Socket socket;

		private final Thread thread;

		Reads(int port) throws IOException {
			this.socket = new Socket("127.0.0.1", port);
			this.socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.UTF_8));
			BufferedReader lines = new BufferedReader(
					new InputStreamReader(this.socket.getInputStream(), StandardCharsets.UTF_8));
			assertThat(lines.readLine()).isEqualTo("+OK");
			this.thread = new Thread(() -> lines.lines().map(READ::matcher).filter(Matcher::find).forEach(this::add),
					"reads");
			this.thread.setDaemon(true);
			this.thread.setUncaughtExceptionHandler((thread, failure) -> this.blocks.add(failure.toString()));
			this.thread.start();
		}

		private void add(Matcher read) {
			if (read.group(1) != null) {
				this.blocks.add(read.group(1));
			}
			else {
				// Each is named, and has an offset.
				this.withoutBlock.add(read.group(2).split(" ").length / 2);
			}
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
