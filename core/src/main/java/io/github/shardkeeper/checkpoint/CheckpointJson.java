package io.github.shardkeeper.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Parts of a checkpoint as JSON, for stores. Does not use the application's mapper,
 * because instances of different versions share a store. Has no state.
 *
 * <ul>
 * <li>Offsets are an array, because they may be any text.</li>
 * <li>The properties of a failed record, all but offset and payload, are one line:
 * <code>{"attempts":5,"rounds":1,"key":"42","headers":{"trace":"7f"},"timestamp":"…","failedAt":"…",
 * "exception":"…","stackTrace":"…"}</code>. Scripts of Redis rely on {@code attempts}
 * being first. Records that wait by key also have {@code "place":1795234603797}; earlier
 * versions ignore it.</li>
 * <li>The properties of a record in the outbox, all but place, target and payload:
 * <code>{"era":1767225600123456,"number":7,"key":"42","headers":{"trace":"7f"}}</code>.</li>
 * </ul>
 */
@Internal
public final class CheckpointJson {

	private static final JsonMapper MAPPER = new JsonMapper();

	private CheckpointJson() {
	}

	/** Writes offsets, none as empty text. */
	public static String offsets(Set<Offset> offsets) {
		if (offsets.isEmpty()) {
			return "";
		}
		ArrayNode array = MAPPER.createArrayNode();
		offsets.forEach((offset) -> array.add(offset.value()));
		return MAPPER.writeValueAsString(array);
	}

	/** Reads offsets, and keeps their order. */
	public static Set<Offset> offsets(String text) {
		if (text.isEmpty()) {
			return Set.of();
		}
		Set<Offset> offsets = new LinkedHashSet<>();
		MAPPER.readTree(text).forEach((offset) -> offsets.add(new Offset(offset.asString())));
		return Collections.unmodifiableSet(offsets);
	}

	/** Writes the properties of a failed record, in UTF-8. */
	public static byte[] about(FailedRecord record) {
		ObjectNode about = MAPPER.createObjectNode();
		about.put("attempts", record.attempts());
		about.put("rounds", record.rounds());
		if (record.place() > 0) {
			about.put("place", record.place());
		}
		putKeyAndHeaders(about, record.key(), record.headers());
		about.put("timestamp", record.timestamp().toString());
		about.put("failedAt", record.failedAt().toString());
		about.put("exception", record.exception());
		about.put("stackTrace", record.stackTrace());
		return MAPPER.writeValueAsString(about).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Reads a failed record. Omits properties that cannot be read, because others have
	 * written them: the payload must not be lost, nor the other letters be blocked.
	 */
	public static FailedRecord failedRecord(Offset offset, byte[] about, byte[] payload) {
		JsonNode root = root(about);
		int attempts = Math.max(root.path("attempts").asInt(0), 0);
		return new FailedRecord(offset, key(root), payload, headers(root), instant(root, "timestamp"), attempts,
				(attempts > 0) ? Math.max(root.path("rounds").asInt(0), 0) : 0, root.path("exception").asString(""),
				root.path("stackTrace").asString(""), instant(root, "failedAt"),
				Math.max(root.path("place").asLong(0), 0));
	}

	/** Writes the properties of a record in the outbox, in UTF-8. */
	public static byte[] about(Outbox.Entry entry) {
		ObjectNode about = MAPPER.createObjectNode();
		about.put("era", entry.era());
		about.put("number", entry.number());
		putKeyAndHeaders(about, entry.key(), entry.headers());
		return MAPPER.writeValueAsString(about).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Reads a record of the outbox.
	 * @throws IllegalArgumentException if others have changed its properties
	 */
	public static Outbox.Entry outboxEntry(Outbox.Place place, ShardId target, byte[] about, byte[] payload) {
		JsonNode root = root(about);
		long era = root.path("era").asLong(0);
		long number = root.path("number").asLong(0);
		if (era <= 0 || number <= 0) {
			throw new IllegalArgumentException(
					"has no era, or no number: " + new String(about, StandardCharsets.UTF_8));
		}
		return new Outbox.Entry(place, era, target, number, key(root), payload, headers(root));
	}

	private static void putKeyAndHeaders(ObjectNode about, @Nullable String key, Map<String, String> headers) {
		if (key != null) {
			about.put("key", key);
		}
		if (!headers.isEmpty()) {
			ObjectNode node = about.putObject("headers");
			headers.forEach(node::put);
		}
	}

	private static @Nullable String key(JsonNode root) {
		JsonNode key = root.path("key");
		return key.isString() ? key.asString() : null;
	}

	private static Map<String, String> headers(JsonNode root) {
		Map<String, String> headers = new LinkedHashMap<>();
		root.path("headers")
			.properties()
			.forEach((header) -> headers.put(header.getKey(), header.getValue().asString("")));
		return headers;
	}

	private static JsonNode root(byte[] about) {
		try {
			return MAPPER.readTree(about);
		}
		catch (JacksonException ex) {
			return MAPPER.createObjectNode();
		}
	}

	private static Instant instant(JsonNode root, String field) {
		String text = root.path(field).asString("");
		try {
			return Instant.parse(text);
		}
		catch (DateTimeException ex) {
			return Instant.EPOCH;
		}
	}

}
