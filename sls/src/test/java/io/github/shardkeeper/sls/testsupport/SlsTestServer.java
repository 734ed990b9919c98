package io.github.shardkeeper.sls.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.aliyun.openservices.log.common.FastLogGroup;
import com.aliyun.openservices.log.exception.LogException;
import com.aliyun.openservices.log.util.LZ4Encoder;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The REST API of SLS, as far as the vendor's client uses it for shards, cursors,
 * reading, appending and consumer groups, on a port of the loopback address. The client
 * reaches it as its HTTP proxy, because an endpoint has no port.
 * <p>
 * It checks signatures of both versions and encodes and decodes like the service, by the
 * vendor's documentation and client. What the documentation does not say is an
 * assumption: how cursors count, and what happens to one that has expired (see
 * {@link #refuseExpiredCursors}). One difference is deliberate: a log group is received
 * at the time of its last log, so that positions by time are repeatable. Thread-safe.
 */
public final class SlsTestServer implements AutoCloseable {

	/** Host of the service. It need not exist, because a proxy resolves it. */
	public static final String ENDPOINT = "http://cn-test.log.example.com";

	/** The only project. */
	public static final String PROJECT = "shop";

	private static final long MAX_ANSWER_BYTES = 10 * 1024 * 1024;

	private static final Pattern RESOURCE = Pattern
		.compile("/logstores(?:/([^/]+)(?:/(shards|consumergroups)(?:/([^/]+))?)?)?");

	static {
		answerWithoutDelay();
	}

	private final Map<String, TestLogstore> logstores = new ConcurrentHashMap<>();

	private final Map<String, Secret> secrets = new ConcurrentHashMap<>();

	private final List<Fault> faults = new CopyOnWriteArrayList<>();

	private final List<Call> calls = new CopyOnWriteArrayList<>();

	private final AtomicInteger requestIds = new AtomicInteger();

	private final AtomicLong clockOffsetSeconds = new AtomicLong();

	private final JsonMapper json = JsonMapper.builder().build();

	private final List<Quota> quotas = new CopyOnWriteArrayList<>();

	private volatile boolean refuseExpiredCursors;

	private volatile int mostLogGroups = Integer.MAX_VALUE;

	private volatile boolean withoutNextCursor;

	private volatile boolean withoutEnd;

	private HttpServer server;

	private ExecutorService threads;

	private int port;

	/**
	 * Otherwise each reply on a kept connection takes 40 ms. The JDK reads it once, so
	 * call this before another HTTP server is started in the same JVM.
	 */
	public static void answerWithoutDelay() {
		System.setProperty("sun.net.httpserver.nodelay", "true");
	}

	/** Starts a server on a free port. */
	public SlsTestServer() {
		start();
	}

	private void start() {
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.port = this.server.getAddress().getPort();
		this.threads = Executors.newCachedThreadPool((work) -> {
			Thread thread = new Thread(work, "sls-test-server");
			thread.setDaemon(true);
			return thread;
		});
		this.server.setExecutor(this.threads);
		this.server.createContext("/", this::handle);
		this.server.start();
	}

	/** Returns the address to set as the client's proxy. */
	public String proxy() {
		return "127.0.0.1:" + this.port;
	}

	/** Accepts an access key without a token. */
	public void allow(String accessKeyId, String accessKeySecret) {
		this.secrets.put(accessKeyId, new Secret(accessKeySecret, null));
	}

	/** Accepts a temporary access key. */
	public void allow(String accessKeyId, String accessKeySecret, String securityToken) {
		this.secrets.put(accessKeyId, new Secret(accessKeySecret, securityToken));
	}

	/** Does not accept an access key any more. */
	public void revoke(String accessKeyId) {
		this.secrets.remove(accessKeyId);
	}

	/** Creates a logstore whose shards divide the keys evenly. */
	public void createLogstore(String name, int shards) {
		this.logstores.put(name, new TestLogstore(shards));
	}

	/** Deletes a logstore. */
	public void deleteLogstore(String name) {
		this.logstores.remove(name);
	}

	/** Splits a shard in the middle; returns the children's ids. */
	public List<Integer> split(String logstore, int shard) {
		return logstore(logstore).split(shard, null);
	}

	/** Merges a shard with the one behind it; returns the child's id. */
	public int merge(String logstore, int shard) {
		return logstore(logstore).merge(shard);
	}

	/** Adds a shard that no key belongs to, and that a listing shows only on demand. */
	public void addShard(String logstore, int shard) {
		logstore(logstore).add(shard);
	}

	/** Lets the oldest log groups of a shard expire. */
	public void expire(String logstore, int shard, int logGroups) {
		logstore(logstore).shard(shard).expire(logGroups);
	}

	/** Removes a read-only shard, as the service does when its last log has expired. */
	public void remove(String logstore, int shard) {
		logstore(logstore).remove(shard);
	}

	/** Appends an encoded log group, as another producer would. */
	public void append(String logstore, int shard, byte[] logGroup) {
		logstore(logstore).shard(shard).append(logGroup);
	}

	/** Returns the numbers of log groups by shard that was appended to. */
	public int logGroups(String logstore, int shard) {
		return logstore(logstore).shard(shard).size();
	}

	/** Returns the cursor after the last log group of a shard. */
	public String endCursor(String logstore, int shard) {
		return logstore(logstore).shard(shard).end();
	}

	/** Returns the cursors of a consumer group by shard; empty if there is none. */
	public Map<Integer, String> consumerGroup(String logstore, String name) {
		Map<Integer, String> cursors = new TreeMap<>();
		logstore(logstore).consumerGroups.getOrDefault(name, Map.of())
			.forEach((shard, checkpoint) -> cursors.put(shard, checkpoint.cursor()));
		return cursors;
	}

	/** Adds what a consumer group has of a shard before its first checkpoint. */
	public void addCheckpointWithoutCursor(String logstore, String name, int shard) {
		logstore(logstore).consumerGroups.get(name).put(shard, new TestLogstore.Checkpoint("", 0));
	}

	/** Deletes a consumer group, as somebody may do in the console. */
	public void deleteConsumerGroup(String logstore, String name) {
		logstore(logstore).consumerGroups.remove(name);
	}

	/** Refuses expired cursors, instead of reading from the first log group. */
	public void refuseExpiredCursors() {
		this.refuseExpiredCursors = true;
	}

	/** Replies a read with fewer log groups than it asks for, although there are more. */
	public void answerWithAtMost(int logGroups) {
		this.mostLogGroups = logGroups;
	}

	/**
	 * Names no next cursor in replies to reads, from now on or not any more: the reader
	 * keeps its own.
	 */
	public void leaveOutNextCursor(boolean leaveOut) {
		this.withoutNextCursor = leaveOut;
	}

	/** Does not say whether a reply has reached the end, nor its time. */
	public void leaveOutEnd() {
		this.withoutEnd = true;
	}

	/**
	 * Limits matching calls: without a permit, they are answered as the service does when
	 * a quota is exceeded.
	 * @param which the calls that count
	 * @param code the service's code, such as {@code ShardReadQuotaExceed}
	 * @param message the service's message
	 * @return the quota, without permits, until it is closed
	 */
	public Quota limit(Predicate<Call> which, String code, String message) {
		Quota quota = new Quota(which, code, message);
		this.quotas.add(quota);
		return quota;
	}

	/** Moves the clock of the service, by which it judges the time of a request. */
	public void moveClock(long seconds) {
		this.clockOffsetSeconds.set(seconds);
	}

	/** Replies matching calls with an error until the result is closed. */
	public Fault fail(Predicate<Call> which, int status, String code, String message) {
		Fault fault = new Fault(which, status, code, message, null, Integer.MAX_VALUE);
		this.faults.add(fault);
		return fault;
	}

	/** Replies the next matching calls with an error. */
	public Fault failNext(int count, Predicate<Call> which, int status, String code, String message) {
		Fault fault = new Fault(which, status, code, message, null, count);
		this.faults.add(fault);
		return fault;
	}

	/** Does not reply matching calls until the result is closed. */
	public Fault hold(Predicate<Call> which) {
		Fault fault = new Fault(which, 0, "", "", new CountDownLatch(1), Integer.MAX_VALUE);
		this.faults.add(fault);
		return fault;
	}

	/** Returns the calls until now, also those that failed. */
	public List<Call> calls() {
		return List.copyOf(this.calls);
	}

	/** Returns the number of calls of an operation. */
	public long count(String operation) {
		return this.calls.stream().filter((call) -> call.operation.equals(operation)).count();
	}

	/** Is away until {@link #restart()}. */
	public void stop() {
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	/** Is back, with everything that it had. */
	public void restart() {
		start();
	}

	@Override
	public void close() {
		this.faults.forEach(Fault::close);
		stop();
	}

	private TestLogstore logstore(String name) {
		TestLogstore logstore = this.logstores.get(name);
		if (logstore == null) {
			throw new IllegalArgumentException("No logstore " + name);
		}
		return logstore;
	}

	private void handle(HttpExchange exchange) throws IOException {
		String requestId = "R" + this.requestIds.incrementAndGet();
		exchange.getResponseHeaders().set("x-log-requestid", requestId);
		try (exchange) {
			byte[] body = exchange.getRequestBody().readAllBytes();
			try {
				reply(exchange, body);
			}
			catch (Refusal ex) {
				error(exchange, ex.status, ex.code, String.valueOf(ex.getMessage()));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void reply(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
		Request request = new Request(exchange, body);
		Call call = call(request);
		this.calls.add(call);
		for (Fault fault : this.faults) {
			if (fault.applies(call)) {
				if (fault.held == null) {
					throw new Refusal(fault.status, fault.code, fault.message);
				}
				fault.held.await(1, TimeUnit.MINUTES);
			}
		}
		String host = String.valueOf(request.header("host"));
		if (!host.equals(PROJECT + "." + ENDPOINT.substring("http://".length()))) {
			throw new Refusal(404, "ProjectNotExist", "The Project does not exist : " + host.replaceAll("\\..*", ""));
		}
		Signatures.check(request, this.secrets, System.currentTimeMillis() / 1000 + this.clockOffsetSeconds.get());
		TestLogstore logstore = this.logstores.get(call.logstore);
		if (logstore == null) {
			throw new Refusal(404, "LogStoreNotExist", "logstore " + call.logstore + " does not exist");
		}
		for (Quota quota : this.quotas) {
			quota.take(call);
		}
		switch (call.operation) {
			case "ListShards" -> json(exchange, logstore.list());
			case "GetCursor" -> json(exchange, Map.of("cursor", cursor(logstore, call, request)));
			case "GetCursorTime" -> json(exchange, Map.of("cursor_time",
					logstore.shard(call.shard).time(String.valueOf(request.parameter("cursor")))));
			case "PullLogs" -> pull(exchange, logstore.shard(call.shard), request);
			case "PutLogs" -> {
				logstore.writable(request.parameter("key")).append(logGroup(request));
				json(exchange, Map.of());
			}
			case "SplitShard" -> {
				logstore.split(call.shard, request.parameter("key"));
				json(exchange, logstore.list());
			}
			case "MergeShards" -> {
				logstore.merge(call.shard);
				json(exchange, logstore.list());
			}
			case "CreateConsumerGroup" -> {
				String name = this.json.readTree(request.body).get("consumerGroup").asString();
				if (logstore.consumerGroups.putIfAbsent(name, new ConcurrentHashMap<>()) != null) {
					throw new Refusal(400, "ConsumerGroupAlreadyExist", "consumer group already exists");
				}
				json(exchange, Map.of());
			}
			case "UpdateCheckpoint" -> {
				JsonNode checkpoint = this.json.readTree(request.body);
				consumerGroup(logstore, call).put(checkpoint.get("shard").asInt(),
						new TestLogstore.Checkpoint(checkpoint.get("checkpoint").asString(), nowMicros()));
				json(exchange, Map.of());
			}
			case "GetCheckpoint" -> json(exchange,
					consumerGroup(logstore, call).entrySet()
						.stream()
						.map((entry) -> Map.of("shard", entry.getKey(), "checkpoint", entry.getValue().cursor(),
								"updateTime", entry.getValue().updateMicros(), "consumer", "consumer-1"))
						.toList());
			default -> throw new Refusal(404, "NotExist", "unknown operation of this server: " + request.path);
		}
	}

	private static Map<Integer, TestLogstore.Checkpoint> consumerGroup(TestLogstore logstore, Call call) {
		Map<Integer, TestLogstore.Checkpoint> checkpoints = logstore.consumerGroups.get(call.name);
		if (checkpoints == null) {
			throw new Refusal(404, "ConsumerGroupNotExist", "consumer group does not exist");
		}
		return checkpoints;
	}

	private long nowMicros() {
		return TimeUnit.SECONDS.toMicros(this.clockOffsetSeconds.get())
				+ TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
	}

	private static Call call(Request request) {
		Matcher resource = RESOURCE.matcher(request.path);
		if (!resource.matches() || resource.group(1) == null) {
			return new Call("Unknown", "", -1, "");
		}
		String logstore = resource.group(1);
		String last = resource.group(3);
		if ("consumergroups".equals(resource.group(2))) {
			return new Call(
					(last == null) ? "CreateConsumerGroup"
							: request.method.equals("GET") ? "GetCheckpoint"
									: "checkpoint".equals(request.parameter("type")) ? "UpdateCheckpoint" : "Unknown",
					logstore, -1, (last != null) ? last : "");
		}
		if (last == null) {
			return new Call("ListShards", logstore, -1, "");
		}
		if (last.equals("route") || last.equals("lb")) {
			return new Call("PutLogs", logstore, -1, last);
		}
		int shard = Integer.parseInt(last);
		if (request.method.equals("POST")) {
			return new Call("split".equals(request.parameter("action")) ? "SplitShard" : "MergeShards", logstore, shard,
					"");
		}
		String operation = switch (String.valueOf(request.parameter("type"))) {
			case "cursor" -> "GetCursor";
			case "cursor_time" -> "GetCursorTime";
			default -> "PullLogs";
		};
		return new Call(operation, logstore, shard, "");
	}

	private static String cursor(TestLogstore logstore, Call call, Request request) {
		String from = String.valueOf(request.parameter("from"));
		TestShard shard = logstore.shard(call.shard);
		return switch (from) {
			case "begin" -> shard.begin();
			case "end" -> shard.end();
			default -> shard.at(Long.parseLong(from));
		};
	}

	private void pull(HttpExchange exchange, TestShard shard, Request request) throws IOException {
		int count = Integer.parseInt(String.valueOf(request.parameter("count")));
		if (count < 1 || count > 1000) {
			throw new Refusal(400, "ParameterInvalid", "count must be in [1, 1000]");
		}
		TestShard.Reply reply = shard.pull(String.valueOf(request.parameter("cursor")),
				Math.min(count, this.mostLogGroups), MAX_ANSWER_BYTES, this.refuseExpiredCursors);
		if (!"lz4".equals(request.header("accept-encoding"))
				|| !"application/x-protobuf".equals(request.header("accept"))) {
			throw new Refusal(400, "InvalidAcceptEncoding", "only lz4 here");
		}
		exchange.getResponseHeaders().set("x-log-cursor", this.withoutNextCursor ? "" : reply.next());
		if (!this.withoutEnd) {
			exchange.getResponseHeaders().set("x-log-end-of-cursor", reply.atEnd() ? "1" : "0");
			exchange.getResponseHeaders().set("x-log-cursor-time", Long.toString(reply.nextSeconds()));
		}
		exchange.getResponseHeaders().set("x-log-count", Integer.toString(reply.count()));
		exchange.getResponseHeaders().set("x-log-bodyrawsize", Integer.toString(reply.logGroups().length));
		exchange.getResponseHeaders().set("x-log-compresstype", "lz4");
		exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
		try {
			byte[] compressed = LZ4Encoder.compressToLhLz4Chunk(reply.logGroups());
			exchange.sendResponseHeaders(200, compressed.length);
			exchange.getResponseBody().write(compressed);
		}
		catch (LogException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static byte[] logGroup(Request request) {
		if (!"application/x-protobuf".equals(request.header("content-type"))
				|| !"lz4".equals(request.header("x-log-compresstype"))) {
			throw new Refusal(415, "InvalidContentType", "only protobuf in lz4 here");
		}
		int size = Integer.parseInt(String.valueOf(request.header("x-log-bodyrawsize")));
		if (size > MAX_ANSWER_BYTES) {
			throw new Refusal(400, "PostBodyTooLarge", "body size " + size);
		}
		try {
			byte[] raw = LZ4Encoder.decompressFromLhLz4Chunk(request.body, size);
			// Empty if the vendor's parser cannot read it.
			FastLogGroup group = new FastLogGroup(raw, 0, raw.length);
			if (group.getLogsCount() == 0 || group.getLogs().stream().anyMatch((log) -> log.getContentsCount() == 0)) {
				throw new Refusal(400, "PostBodyInvalid", "Protobuffer content cannot be parsed");
			}
			return raw;
		}
		catch (LogException ex) {
			throw new Refusal(400, "PostBodyUncompressError", "body cannot be uncompressed");
		}
	}

	private void json(HttpExchange exchange, Object reply) throws IOException {
		byte[] bytes = this.json.writeValueAsBytes(reply);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		exchange.sendResponseHeaders(200, bytes.length);
		exchange.getResponseBody().write(bytes);
	}

	private void error(HttpExchange exchange, int status, String code, String message) throws IOException {
		Map<String, String> error = new LinkedHashMap<>();
		error.put("errorCode", code);
		error.put("errorMessage", message);
		byte[] bytes = this.json.writeValueAsBytes(error);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		exchange.sendResponseHeaders(status, bytes.length);
		exchange.getResponseBody().write(bytes);
	}

	/** Error that the service replies with. */
	static final class Refusal extends RuntimeException {

		private final int status;

		private final String code;

		Refusal(int status, String code, String message) {
			super(message);
			this.status = status;
			this.code = code;
		}

	}

	/**
	 * A call.
	 *
	 * @param operation the name of the operation in the vendor's documentation
	 * @param logstore the logstore
	 * @param shard the shard, -1 for none
	 * @param name the consumer group, or how the shard is chosen
	 */
	public record Call(String operation, String logstore, int shard, String name) {

	}

	/**
	 * Access key.
	 *
	 * @param secret the secret
	 * @param token the security token that belongs to it, {@code null} for none
	 */
	record Secret(String secret, @Nullable String token) {

	}

	/** Fault of some calls, until it is closed. */
	public final class Fault implements AutoCloseable {

		private final Predicate<Call> which;

		private final int status;

		private final String code;

		private final String message;

		private final @Nullable CountDownLatch held;

		private final AtomicInteger left;

		private final AtomicInteger hits = new AtomicInteger();

		private Fault(Predicate<Call> which, int status, String code, String message, @Nullable CountDownLatch held,
				int count) {
			this.which = which;
			this.status = status;
			this.code = code;
			this.message = message;
			this.held = held;
			this.left = new AtomicInteger(count);
		}

		private boolean applies(Call call) {
			boolean applies = this.which.test(call) && this.left.getAndDecrement() > 0;
			if (applies) {
				this.hits.incrementAndGet();
			}
			return applies;
		}

		/** Returns the number of calls that it has met. */
		public int hits() {
			return this.hits.get();
		}

		/** Ends the fault. */
		@Override
		public void close() {
			end();
		}

		/** Ends the fault, inside of its block. */
		public void end() {
			SlsTestServer.this.faults.remove(this);
			if (this.held != null) {
				this.held.countDown();
			}
		}

	}

	/** A quota of some calls, until it is closed. Thread-safe. */
	public final class Quota implements AutoCloseable {

		private final Predicate<Call> which;

		private final String code;

		private final String message;

		private final AtomicInteger permits = new AtomicInteger();

		private final AtomicInteger refusals = new AtomicInteger();

		private Quota(Predicate<Call> which, String code, String message) {
			this.which = which;
			this.code = code;
			this.message = message;
		}

		private void take(Call call) {
			if (this.which.test(call) && this.permits.getAndUpdate((left) -> Math.max(0, left - 1)) == 0) {
				this.refusals.incrementAndGet();
				throw new Refusal(403, this.code, this.message);
			}
		}

		/** Permits more calls. */
		public void permit(int calls) {
			this.permits.addAndGet(calls);
		}

		/** Returns the number of calls that were refused. */
		public int refusals() {
			return this.refusals.get();
		}

		@Override
		public void close() {
			SlsTestServer.this.quotas.remove(this);
		}

	}

	/** Request as it arrived. */
	static final class Request {

		private final String method;

		private final String path;

		private final Map<String, String> parameters = new TreeMap<>();

		/** By name in lower case. */
		private final Map<String, String> headers = new HashMap<>();

		private final byte[] body;

		Request(HttpExchange exchange, byte[] body) {
			this.method = exchange.getRequestMethod();
			this.path = exchange.getRequestURI().getPath();
			this.body = body;
			String query = exchange.getRequestURI().getRawQuery();
			for (String pair : (query != null) ? query.split("&") : new String[0]) {
				int equals = pair.indexOf('=');
				this.parameters.put(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
			}
			exchange.getRequestHeaders()
				.forEach((name, values) -> this.headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
		}

		private static String decode(String text) {
			return URLDecoder.decode(text, StandardCharsets.UTF_8);
		}

		String method() {
			return this.method;
		}

		String path() {
			return this.path;
		}

		Map<String, String> parameters() {
			return this.parameters;
		}

		@Nullable String parameter(String name) {
			return this.parameters.get(name);
		}

		Map<String, String> headers() {
			return this.headers;
		}

		@Nullable String header(String name) {
			return this.headers.get(name);
		}

		byte[] body() {
			return this.body;
		}

	}

}
