package io.github.shardkeeper.redis.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ids that Redis remembers itself, from 8.6 on, on any Redis: what is sent is looked at
 * by a server that only replies, and the script is tried with an {@code XADD} of the
 * test's own put before it. {@link IdsRememberedByRedisTests} have a Redis that remembers
 * them.
 */
@Promise("Sent once")
class NativeIdsTests {

	private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

	@Test
	void recordWithAnIdIsOneCommandWhereRedisRemembersIdsForLongEnough() {
		try (AnsweringServer server = new AnsweringServer("600", "200")) {
			send(server, 0, Outgoing.of("a").withId("order-1"), Outgoing.of("b").withId("order-2").withHeader("h", "x"),
					Outgoing.of("c"));

			String stream = "ids:{orders#0}:stream:0";
			assertThat(server.commands("XADD")).containsExactly(
					List.of("XADD", stream, "IDMP", NativeIds.producer("order-2"), "order-2", "*", "v", "b", "h", "x"),
					List.of("XADD", stream, "*", "v", "c"));
			// The first one, before the reply to the question was there.
			assertThat(server.commands("EVALSHA")).singleElement()
				.satisfies((command) -> assertThat(command).endsWith(NativeIds.producer("order-1"), "order-1", "2", "v",
						"a"));
			assertThat(server.commands("CONFIG")).containsExactly(List.of("CONFIG", "GET", "stream-idmp-*"));
			assertThat(server.commands("XINFO")).containsExactly(List.of("XINFO", "STREAM", stream));
		}
	}

	@Test
	void templateThatRepeatsSendsBatchesWithNativeIds() {
		try (AnsweringServer server = new AnsweringServer("600", "200")) {
			send(server, 3, Outgoing.of("a").withId("order-1"), Outgoing.of("b"), Outgoing.of("c").withId("order-2"));

			assertThat(server.commands("XADD")).isEmpty();
			assertThat(server.commands("EVALSHA")).hasSize(3)
				.last()
				.satisfies((command) -> assertThat(command).endsWith(NativeIds.producer("order-2"), "order-2", "2", "v",
						"c"));
		}
	}

	@Test
	void shorterMemoryOfRedisIsNotUsed() {
		for (List<String> settings : List.of(List.of("599", "10000"), List.of("600", "100"))) {
			try (AnsweringServer server = new AnsweringServer(settings.get(0), settings.get(1))) {
				send(server, 0, Outgoing.of("a").withId("order-1"), Outgoing.of("b").withId("order-2"));

				assertThat(server.commands("XADD")).isEmpty();
				assertThat(server.commands("EVALSHA")).hasSize(2)
					.last()
					.satisfies((command) -> assertThat(command).endsWith("", "order-2", "2", "v", "b"));
				assertThat(server.commands("CONFIG")).hasSize(1);
				assertThat(server.commands("XINFO")).isEmpty();
			}
		}
	}

	@Test
	void streamThatWasCreatedWithAShorterMemoryIsNotUsed() {
		for (String created : List.of("idmp-duration 100 idmp-maxsize 200", "idmp-duration 600 idmp-maxsize 100",
				"length 1")) {
			try (AnsweringServer server = new AnsweringServer("600", "200", created)) {
				send(server, 0, Outgoing.of("a").withId("order-1"), Outgoing.of("b").withId("order-2"));

				assertThat(server.commands("XADD")).as(created).isEmpty();
				assertThat(server.commands("XINFO")).hasSize(1);
			}
		}
		try (AnsweringServer server = new AnsweringServer("600", "200", "idmp-maxsize 200 idmp-duration 600")) {
			send(server, 0, Outgoing.of("a").withId("order-1"), Outgoing.of("b").withId("order-2"));

			assertThat(server.commands("XADD")).hasSize(1);
		}
	}

	@Test
	@Tag("proof")
	void idIsRememberedWhileAsManyFollowAsPromised() {
		Random random = new Random(4711);
		List<LongFunction<String>> kinds = List.of(
				(number) -> new UUID(random.nextLong(), random.nextLong()).toString(), (number) -> "order-" + number,
				(number) -> "orders/3@" + (1_764_129_600_000L + 7 * number) + "-0");
		for (int maxCount : List.of(1, 50, 1_000, 100_000)) {
			int perProducer = 1;
			while (!NativeIds.remember(perProducer, maxCount)) {
				perProducer++;
			}
			for (LongFunction<String> kind : kinds) {
				assertThat(shortestMemory(kind, perProducer, 20L * Math.max(maxCount, 1_000)))
					.as("maximum %d, %d of each producer", maxCount, perProducer)
					.isGreaterThanOrEqualTo(maxCount);
			}
		}
		assertThat(NativeIds.remember(180, 100_000)).as("as documented").isTrue();
		assertThat(NativeIds.remember(179, 100_000)).as("as documented").isFalse();
	}

	/**
	 * Returns the smallest number of ids, from one on, after which that one is forgotten.
	 */
	private static long shortestMemory(LongFunction<String> ids, int perProducer, long count) {
		Map<String, Deque<Long>> remembered = new HashMap<>();
		long shortest = Long.MAX_VALUE;
		for (long number = 0; number < count; number++) {
			Deque<Long> ofProducer = remembered.computeIfAbsent(NativeIds.producer(ids.apply(number)),
					(producer) -> new ArrayDeque<>());
			ofProducer.add(number);
			if (ofProducer.size() > perProducer) {
				shortest = Math.min(shortest, number - ofProducer.remove());
			}
		}
		return shortest;
	}

	@Test
	void withoutAnIdNothingIsAsked() {
		try (AnsweringServer server = new AnsweringServer("600", "200")) {
			send(server, 1, Outgoing.of("a"), Outgoing.of("b"));

			assertThat(server.commands("CONFIG")).isEmpty();
		}
	}

	@Test
	@OnEveryRedis
	void scriptLeavesIdsToRedis() {
		String withIdmp = """
				local real = redis
				local redis = setmetatable({}, {__index = real})
				local function xadd(command, key, ...)
				  local rest = {...}
				  if command ~= 'XADD' or rest[1] ~= 'IDMP' then
				    return real.call(command, key, ...)
				  end
				  local known = real.call('HGET', 'idmp', rest[2] .. ' ' .. rest[3])
				  local entry = known or real.call('XADD', key, unpack(rest, 4))
				  real.call('HSET', 'idmp', rest[2] .. ' ' .. rest[3], entry)
				  return entry
				end
				redis.call, redis.pcall = xadd, xadd
				""";
		String key = "{" + UUID.randomUUID() + "}";
		String[] keys = { key + "stream", key + "producer", key + "ids0", key + "ids1" };
		EmbeddedRedis redis = EmbeddedRedis.shared();
		List<List<String>> replies = new ArrayList<>();
		for (String number : List.of("1", "2", "2")) {
			replies.add(redis.call((commands) -> commands.eval(withIdmp + IdempotentAppendScript.APPEND.text(),
					ScriptOutputType.MULTI, keys, number, "600000", "100", "p-1", "id-1", "2", "v", "a", "", "", "2",
					"v", "b", "p-2", "id-2", "2", "v", "c")));
		}

		assertThat(replies.get(0)).startsWith("APPENDED", "0").hasSize(5);
		assertThat(replies.get(1)).as("only the record without an id is new").hasSize(5);
		assertThat(replies.get(1).get(2)).isEqualTo(replies.get(0).get(2));
		assertThat(replies.get(1).get(4)).isEqualTo(replies.get(0).get(4));
		assertThat(replies.get(2)).startsWith("APPENDED", "3")
			.endsWith(replies.get(1).subList(2, 5).toArray(String[]::new));
		assertThat(redis.<Long>call((commands) -> commands.xlen(keys[0]))).isEqualTo(4);
		assertThat(redis.<Long>call((commands) -> commands.exists(keys[2], keys[3]))).isZero();
	}

	private static void send(AnsweringServer server, int retries, Outgoing... records) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", server.port());
		factory.afterPropertiesSet();
		try (RedisStreamSource source = new RedisStreamSource(new RedisConnector(factory), "ids", Map.of("orders", 1),
				TIME_LIMIT, ReplicaWait.NONE, new RecordIds(Duration.ofMinutes(10), 100_000));
				KeyedShardTemplate template = new KeyedShardTemplate(SendTopics.of(source::topics, source),
						new JsonPayloadConverter(new JsonMapper()), new SendSettings(1000, 100, 10_000, retries),
						Map.of(), null, SendObserver.NONE)) {
			for (Outgoing record : records) {
				assertThat(template.send("orders", record).offset().value()).isEqualTo("7-7");
			}
		}
		finally {
			factory.destroy();
		}
	}

	/**
	 * Server that speaks just enough of Redis' protocol, and appends nothing.
	 * Thread-safe.
	 */
	private static final class AnsweringServer implements AutoCloseable {

		private final ServerSocket server;

		/** Reply to {@code XINFO STREAM}, or {@code null} if there is no stream. */
		private final @Nullable String stream;

		private final String duration;

		private final String maxSize;

		private final List<List<String>> received = new CopyOnWriteArrayList<>();

		AnsweringServer(String duration, String maxSize) {
			this(duration, maxSize, null);
		}

		AnsweringServer(String duration, String maxSize, @Nullable String stream) {
			this.stream = stream;
			this.duration = duration;
			this.maxSize = maxSize;
			try {
				this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			start(() -> {
				while (true) {
					Socket client = this.server.accept();
					start(() -> serve(client));
				}
			});
		}

		int port() {
			return this.server.getLocalPort();
		}

		List<List<String>> commands(String name) {
			return this.received.stream().filter((command) -> command.get(0).equals(name)).toList();
		}

		private void serve(Socket client) throws IOException {
			try (client) {
				BufferedReader in = new BufferedReader(
						new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
				OutputStream out = client.getOutputStream();
				for (String line = in.readLine(); line != null; line = in.readLine()) {
					List<String> command = new ArrayList<>();
					int parts = Integer.parseInt(line.substring(1));
					for (int i = 0; i < parts; i++) {
						char[] part = new char[Integer.parseInt(in.readLine().substring(1)) + 2];
						int length = 0;
						while (length < part.length) {
							length += in.read(part, length, part.length - length);
						}
						command.add(new String(part, 0, length - 2));
					}
					this.received.add(command);
					out.write(reply(command).getBytes(StandardCharsets.ISO_8859_1));
				}
			}
		}

		private String reply(List<String> command) {
			return switch (command.get(0).toUpperCase(Locale.ROOT)) {
				case "HELLO" -> "-ERR unknown command 'HELLO'\r\n";
				case "PING" -> "+PONG\r\n";
				case "HGET" -> bulk("1");
				case "XADD" -> bulk("7-7");
				case "XINFO" -> (this.stream != null) ? array(this.stream) : "-ERR no such key\r\n";
				case "XLEN" -> ":0\r\n";
				case "EVALSHA" -> "*3\r\n" + bulk("APPENDED") + bulk("0") + bulk("7-7");
				case "CONFIG" -> "*4\r\n" + bulk("stream-idmp-duration") + bulk(this.duration)
						+ bulk("stream-idmp-maxsize") + bulk(this.maxSize);
				default -> "+OK\r\n";
			};
		}

		private static String array(String words) {
			return "*" + words.split(" ").length + "\r\n"
					+ Stream.of(words.split(" ")).map(AnsweringServer::bulk).collect(Collectors.joining());
		}

		private static String bulk(String text) {
			return "$" + text.length() + "\r\n" + text + "\r\n";
		}

		private static void start(Body body) {
			Thread thread = new Thread(() -> {
				try {
					body.run();
				}
				catch (IOException ex) {
					// A closed socket is how these threads end.
				}
			}, "answering-server");
			thread.setDaemon(true);
			thread.start();
		}

		@Override
		public void close() {
			try {
				this.server.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		/** Work of a thread. */
		@FunctionalInterface
		private interface Body {

			void run() throws IOException;

		}

	}

}
