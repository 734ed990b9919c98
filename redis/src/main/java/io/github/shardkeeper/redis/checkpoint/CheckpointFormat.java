package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.shard.Offset;

/**
 * The text formats of the data plane in Redis. They do not use the application's mapper,
 * because instances of different versions share them. Has no state.
 *
 * <ul>
 * <li>Offsets are a JSON array, because they may be any text; none are empty text.</li>
 * <li>A failed record has two parts: its properties, as JSON on one line,
 * <code>{"attempts":5,"rounds":1,"key":"42","headers":{"trace":"7f"},"timestamp":"…","failedAt":"…",
 * "exception":"…","stackTrace":"…"}</code>, and its payload, byte for byte. The scripts
 * rely on {@code attempts} being first. In the retry queue a line break separates the
 * parts.</li>
 * <li>A seek is <code>number clearsState offset</code>, as {@code request-seek.lua}
 * writes it and {@code commit.lua} removes it.</li>
 * </ul>
 */
final class CheckpointFormat {

	private static final JsonMapper MAPPER = new JsonMapper();

	private CheckpointFormat() {
	}

	static String text(Object bytes) {
		return new String((byte[]) bytes, StandardCharsets.UTF_8);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static byte[] bytes(long number) {
		return bytes(Long.toString(number));
	}

	static String offsets(Set<Offset> offsets) {
		if (offsets.isEmpty()) {
			return "";
		}
		ArrayNode array = MAPPER.createArrayNode();
		offsets.forEach((offset) -> array.add(offset.value()));
		return MAPPER.writeValueAsString(array);
	}

	static Set<Offset> offsets(String text) {
		if (text.isEmpty()) {
			return Set.of();
		}
		try {
			Set<Offset> offsets = new LinkedHashSet<>();
			MAPPER.readTree(text).forEach((offset) -> offsets.add(new Offset(offset.asString())));
			return Collections.unmodifiableSet(offsets);
		}
		catch (JacksonException | IllegalArgumentException ex) {
			throw unreadable("ahead", ex);
		}
	}

	/** Returns the exception for a field of a checkpoint that others have changed. */
	static StoreUnavailableException unreadable(String field, RuntimeException failure) {
		return new StoreUnavailableException(
				"Redis: the field '%s' of the shard's checkpoint cannot be read, because others have changed it; restore it, or remove it with HDEL"
					.formatted(field),
				failure, true);
	}

	/** Reads the pending seek, and the number of the last one that was carried out. */
	static Seeks seeks(byte[] seek, byte[] sought) {
		long applied = number("sought", text(sought));
		if (seek.length == 0) {
			return (applied != 0) ? new Seeks(applied, null) : Seeks.NONE;
		}
		String[] parts = text(seek).split(" ", 3);
		if (parts.length < 3) {
			throw unreadable("seek", new IllegalArgumentException("has no three parts"));
		}
		return new Seeks(applied,
				new SeekRequest(number("seek", parts[0]), new Offset(parts[2]), parts[1].equals("1")));
	}

	/** Reads a number of a checkpoint; 0 if there is none. */
	static long number(String field, String text) {
		try {
			return text.isEmpty() ? 0 : Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			throw unreadable(field, ex);
		}
	}

	/** Writes the properties of a failed record. */
	static byte[] about(FailedRecord record) {
		ObjectNode about = MAPPER.createObjectNode();
		about.put("attempts", record.attempts());
		about.put("rounds", record.rounds());
		if (record.key() != null) {
			about.put("key", record.key());
		}
		if (!record.headers().isEmpty()) {
			ObjectNode headers = about.putObject("headers");
			record.headers().forEach(headers::put);
		}
		about.put("timestamp", record.timestamp().toString());
		about.put("failedAt", record.failedAt().toString());
		about.put("exception", record.exception());
		about.put("stackTrace", record.stackTrace());
		return bytes(MAPPER.writeValueAsString(about));
	}

	/** Reads a record of the retry queue: both parts, with a line break between them. */
	static FailedRecord failedRecord(Offset offset, byte[] parts) {
		int end = 0;
		while (end < parts.length && parts[end] != '\n') {
			end++;
		}
		return failedRecord(offset, Arrays.copyOf(parts, end),
				Arrays.copyOfRange(parts, Math.min(end + 1, parts.length), parts.length));
	}

	/**
	 * Reads a dead letter. Omits properties that cannot be read, because others have
	 * written them: the payload must not be lost, nor the other letters be blocked.
	 */
	static FailedRecord failedRecord(Offset offset, byte[] about, byte[] payload) {
		JsonNode root = root(about);
		Map<String, String> headers = new LinkedHashMap<>();
		root.path("headers")
			.properties()
			.forEach((header) -> headers.put(header.getKey(), header.getValue().asString("")));
		JsonNode key = root.path("key");
		int attempts = Math.max(root.path("attempts").asInt(0), 0);
		return new FailedRecord(offset, key.isString() ? key.asString() : null, payload, headers,
				instant(root, "timestamp"), attempts, (attempts > 0) ? Math.max(root.path("rounds").asInt(0), 0) : 0,
				root.path("exception").asString(""), root.path("stackTrace").asString(""), instant(root, "failedAt"));
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
