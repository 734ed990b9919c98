package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.shard.Offset;

/**
 * A failed record in two parts: what is known about it, as JSON on one line,
 * <code>{"attempts":5,"rounds":1,"key":"42","headers":{"trace":"7f"},"timestamp":"…","failedAt":"…",
 * "exception":"…","stackTrace":"…"}</code>, and its payload, byte for byte. The scripts
 * rely on where {@code attempts} stands. What they put together for the retry queue has a
 * line break between the parts. Deliberately not the application's own mapper.
 */
final class FailedRecordFormat {

	private static final JsonMapper MAPPER = new JsonMapper();

	private FailedRecordFormat() {
	}

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
		return MAPPER.writeValueAsString(about).getBytes(StandardCharsets.UTF_8);
	}

	/** Both parts, with a line break between them. */
	static FailedRecord read(Offset offset, byte[] parts) {
		int end = 0;
		while (end < parts.length && parts[end] != '\n') {
			end++;
		}
		return read(offset, Arrays.copyOf(parts, end),
				Arrays.copyOfRange(parts, Math.min(end + 1, parts.length), parts.length));
	}

	/**
	 * What cannot be read, because somebody else has written it, is left out: the payload
	 * is handed on, so that it neither gets lost nor stops the others.
	 */
	static FailedRecord read(Offset offset, byte[] about, byte[] payload) {
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
