package io.github.shardkeeper.sample.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.dashboard.DashboardPage;
import io.github.shardkeeper.dashboard.DashboardPaths;

/**
 * The page's files with replies of a group that does not exist: as many shards, and such
 * names, as a test wants. There is no stream of events, so the page polls.
 */
final class StubbedGroup implements AutoCloseable {

	static final String PREFIX = "/ops/prefix";

	private static final JsonMapper MAPPER = new JsonMapper();

	private final HttpServer server;

	private final ExecutorService threads = Executors.newFixedThreadPool(4);

	/** Bodies of acts, in their order. */
	final List<JsonNode> acts = new CopyOnWriteArrayList<>();

	volatile List<Map<String, Object>> members = List.of();

	volatile List<Map<String, Object>> shards = List.of();

	volatile List<Map<String, Object>> moves = List.of();

	/** Broadcast topics of the instance that replies. */
	volatile List<Map<String, Object>> broadcast = List.of();

	volatile long generation = 1;

	/** Whether the instance that replies has left the group. */
	volatile boolean left;

	private StubbedGroup(HttpServer server) {
		this.server = server;
	}

	static StubbedGroup start() throws IOException {
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
		StubbedGroup group = new StubbedGroup(server);
		server.createContext("/", group::reply);
		server.setExecutor(group.threads);
		server.start();
		return group;
	}

	String page() {
		return "http://localhost:" + this.server.getAddress().getPort() + PREFIX + "/actuator/sharddashboard";
	}

	static Map<String, Object> member(String id, boolean leader, int shards) {
		Map<String, Object> member = new TreeMap<>();
		member.put("id", id);
		member.put("instance", id.replaceAll("~[^~]*$", ""));
		member.put("version", "1.4.2");
		member.put("capacity", 1);
		member.put("leader", leader);
		member.put("leaving", false);
		member.put("topics", Map.of());
		member.put("shards", shards);
		return member;
	}

	static Map<String, Object> shard(String topic, String id, String owner, String problem) {
		Map<String, Object> shard = new TreeMap<>();
		shard.put("topic", topic);
		shard.put("id", id);
		shard.put("state", "OWNED");
		shard.put("owner", owner);
		shard.put("target", null);
		shard.put("token", 1_795_234_342_450_619L);
		shard.put("offset", "41");
		shard.put("since", "2026-11-21T04:12:22.450Z");
		shard.put("problem", problem);
		shard.put("why", "its owner had more than its share");
		return shard;
	}

	static Map<String, Object> move(long id, String topic, String shard, String from, String to) {
		Map<String, Object> move = new TreeMap<>();
		move.put("id", id + "-0");
		move.put("topic", topic);
		move.put("shard", shard);
		move.put("from", from);
		move.put("to", to);
		move.put("token", 1_795_234_342_450_619L);
		move.put("cause", "JOIN");
		move.put("planned", "2026-11-21T04:12:27.650Z");
		move.put("drained", "PT0.031S");
		move.put("unowned", "PT0S");
		return move;
	}

	private void reply(HttpExchange exchange) throws IOException {
		try (exchange) {
			String path = exchange.getRequestURI().getRawPath();
			String below = path.startsWith(PREFIX + "/actuator/") ? path.substring((PREFIX + "/actuator/").length())
					: "";
			if (exchange.getRequestMethod().equals("POST")) {
				act(exchange);
			}
			else if (below.equals("sharddashboard")) {
				String html = new String(resource("dashboard.html"), StandardCharsets.UTF_8);
				send(exchange, 200, "text/html;charset=UTF-8",
						html.replace("{{self}}", "sharddashboard")
							.replace("{{shards}}", "shards")
							.replace("{{moves}}", "shardmoves")
							.replace("{{groups}}", "visits-app")
							.replace("{{acts}}", "true")
							.getBytes(StandardCharsets.UTF_8));
			}
			else if (below.equals("sharddashboard/events")) {
				send(exchange, 204, "text/plain", new byte[0]);
			}
			else if (below.startsWith("sharddashboard/")) {
				String name = below.substring("sharddashboard/".length());
				send(exchange, 200,
						name.endsWith("js") ? "text/javascript" : name.endsWith("css") ? "text/css" : "image/svg+xml",
						resource(name));
			}
			else if (below.equals("shardmoves")) {
				json(exchange, moves(parameters(exchange)));
			}
			else if (below.equals("shards")) {
				json(exchange, Map.of("groups", List.of(group(parameters(exchange)))));
			}
			else if (below.endsWith("/deadletters")) {
				json(exchange, letters());
			}
			else {
				json(exchange, details(path));
			}
		}
	}

	private static Map<String, String> parameters(HttpExchange exchange) {
		return Stream.of(String.valueOf(exchange.getRequestURI().getQuery()).split("&"))
			.map((part) -> part.split("=", 2))
			.filter((part) -> part.length == 2)
			.collect(Collectors.toMap((part) -> part[0], (part) -> part[1]));
	}

	/** Returns a page of the moves, which are the newest first. */
	private Map<String, Object> moves(Map<String, String> query) {
		List<Map<String, Object>> all = this.moves.stream()
			.filter((move) -> !query.containsKey("before") || number(move.get("id")) < number(query.get("before")))
			.toList();
		List<Map<String, Object>> page = all.stream()
			.limit(Integer.parseInt(query.getOrDefault("limit", "100")))
			.toList();
		Map<String, Object> reply = new TreeMap<>(Map.of("moves", page));
		reply.put("next", (page.size() < all.size()) ? page.get(page.size() - 1).get("id") : null);
		return reply;
	}

	private static long number(Object moveId) {
		return Long.parseLong(moveId.toString().replaceAll("-.*", ""));
	}

	private Map<String, Object> group(Map<String, String> query) {
		List<Map<String, Object>> all = this.shards;
		long wrong = all.stream().filter((shard) -> shard.get("problem") != null).count();
		List<Map<String, Object>> matching = query.containsKey("problem")
				? all.stream().filter((shard) -> shard.get("problem") != null).toList() : all;
		int from = Integer.parseInt(query.getOrDefault("after", "x/-1").replaceAll(".*/", "")) + 1;
		int limit = Integer.parseInt(query.getOrDefault("limit", "100"));
		List<Map<String, Object>> page = matching.stream().skip(from).limit(limit).toList();
		Map<String, Object> group = new TreeMap<>();
		group.put("group", "visits-app");
		group.put("instance", this.left ? "host-0" : this.members.get(0).get("instance"));
		group.put("self", this.left ? null : this.members.get(0).get("id"));
		group.put("connected", true);
		group.put("leader", this.members.get(0).get("id"));
		group.put("epoch", 1);
		group.put("generation", this.generation);
		group.put("members", this.members);
		group.put("topics", List.of(Map.of("topic", all.get(0).get("topic"), "shards", all.size(), "states",
				Map.of("OWNED", all.size()), "problems", wrong)));
		group.put("broadcast", this.broadcast);
		group.put("problems", List.of());
		group.put("matching", matching.size());
		group.put("shards", page);
		group.put("next", (from + limit < matching.size()) ? "visits/" + (from + limit - 1) : null);
		group.put("incomplete", null);
		group.put("error", null);
		return group;
	}

	/** Returns one dead letter, as it is without consent to show values. */
	private static Map<String, Object> letters() {
		Map<String, Object> letter = new TreeMap<>(
				Map.of("id", "visits/1/7-0", "offset", "41", "attempts", 0, "failedAt", "2026-11-21T04:12:22.450Z",
						"error", "java.lang.IllegalStateException", "payloadSize", 2110));
		Map<String, Object> page = new TreeMap<>(Map.of("deadLetters", List.of(letter), "valuesShown", false));
		page.put("next", null);
		return page;
	}

	private Map<String, Object> details(String path) {
		Map<String, Object> details = new TreeMap<>();
		details.put("group", "visits-app");
		Map<String, Object> found = this.shards.stream()
			.filter((shard) -> path.endsWith("/" + shard.get("id")))
			.findFirst()
			.orElse(this.shards.get(0));
		details.put("shard", found);
		details.put("lag", Map.of("records", 12, "millis", 1840));
		details.put("deadLetters", found.getOrDefault("deadLetters", 0));
		details.put("retries", 0);
		details.put("outbox", found.get("outbox"));
		details.put("timers", found.get("timers"));
		details.put("stateEntries", 7);
		details.put("unreadable", Map.of());
		return details;
	}

	private void act(HttpExchange exchange) throws IOException {
		JsonNode body = MAPPER.readTree(exchange.getRequestBody().readAllBytes());
		if (!"1".equals(exchange.getRequestHeaders().getFirst("X-Shardkeeper-Act"))) {
			send(exchange, 403, "application/json", "{\"reason\":\"no header\"}".getBytes(StandardCharsets.UTF_8));
			return;
		}
		boolean dryRun = body.path("dryRun").asBoolean();
		this.acts.add(body);
		if (!dryRun) {
			List<Map<String, Object>> changed = new ArrayList<>();
			this.shards.forEach((shard) -> {
				Map<String, Object> copy = new TreeMap<>(shard);
				copy.put("paused", Map.of("by", "anna", "since", "2026-11-21T04:12:22Z"));
				changed.add(copy);
			});
			this.shards = changed;
		}
		Map<String, Object> reply = new TreeMap<>();
		reply.put("action", body.path("action").asString());
		reply.put("dryRun", dryRun);
		reply.put("done", !dryRun);
		reply.put("effects", List.of("<b>visits/0</b> is paused on its owner"));
		reply.put("refused", null);
		json(exchange, reply);
	}

	private static byte[] resource(String name) throws IOException {
		try (InputStream in = DashboardPage.class.getResourceAsStream(name)) {
			return in.readAllBytes();
		}
	}

	private static void json(HttpExchange exchange, Object value) throws IOException {
		send(exchange, 200, "application/json", MAPPER.writeValueAsBytes(value));
	}

	private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
		exchange.getResponseHeaders().set("Content-Type", type);
		DashboardPaths.HEADERS.forEach(exchange.getResponseHeaders()::set);
		exchange.sendResponseHeaders(status, (body.length > 0) ? body.length : -1);
		try (OutputStream out = exchange.getResponseBody()) {
			out.write(body);
		}
	}

	@Override
	public void close() {
		this.server.stop(0);
		this.threads.shutdownNow();
	}

}
