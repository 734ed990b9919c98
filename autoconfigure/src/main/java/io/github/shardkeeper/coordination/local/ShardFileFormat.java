package io.github.shardkeeper.coordination.local;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.coordination.memory.ShardContents;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;

/**
 * What is known of a shard, as JSON:
 * <code>{"format":1,"fence":17,"commit":3,"acquired":1767225600000,"offset":"5-0","ahead":["7-0"],"state":{"key":"value"},"retries":[…],
 * "seeks":{"applied":0},"deadLetters":[…]}</code>. State values are JSON in text;
 * payloads are in Base64. What is missing or of another type is an error, because nobody
 * else writes these files. Deliberately not the application's own mapper.
 */
final class ShardFileFormat {

	private static final JsonMapper MAPPER = new JsonMapper();

	private static final int FORMAT = 1;

	private ShardFileFormat() {
	}

	static byte[] write(ShardContents contents) {
		ObjectNode root = MAPPER.createObjectNode();
		root.put("format", FORMAT);
		root.put("fence", contents.fence().value());
		root.put("commit", contents.lastCommit());
		root.put("acquired", contents.acquired());
		if (contents.offset() != null) {
			root.put("offset", contents.offset().value());
		}
		root.put("completed", contents.completed());
		ArrayNode ahead = root.putArray("ahead");
		contents.ahead().forEach((offset) -> ahead.add(offset.value()));
		ObjectNode state = root.putObject("state");
		contents.state().forEach(state::put);
		ArrayNode retries = root.putArray("retries");
		contents.retries().forEach((retry) -> retries.add(record(retry.record()).put("dueMillis", retry.dueMillis())));
		ObjectNode seeks = root.putObject("seeks").put("applied", contents.seeks().applied());
		SeekRequest pending = contents.seeks().pending();
		if (pending != null) {
			seeks.putObject("pending")
				.put("number", pending.number())
				.put("after", pending.after().value())
				.put("clearsState", pending.clearsState());
		}
		root.put("lettersEver", contents.lettersEver());
		ArrayNode letters = root.putArray("deadLetters");
		contents.deadLetters().forEach((number, record) -> letters.add(record(record).put("number", number)));
		return MAPPER.writeValueAsBytes(root);
	}

	private static ObjectNode record(FailedRecord record) {
		ObjectNode node = MAPPER.createObjectNode();
		node.put("offset", record.offset().value());
		if (record.key() != null) {
			node.put("key", record.key());
		}
		node.put("payload", record.payload());
		ObjectNode headers = node.putObject("headers");
		record.headers().forEach(headers::put);
		node.put("timestamp", record.timestamp().toString());
		node.put("attempts", record.attempts());
		node.put("rounds", record.rounds());
		node.put("exception", record.exception());
		node.put("stackTrace", record.stackTrace());
		node.put("failedAt", record.failedAt().toString());
		return node;
	}

	/**
	 * Reads what was written.
	 * @throws DamagedFileException when it is anything else
	 */
	static ShardContents read(byte[] bytes) throws DamagedFileException {
		try {
			JsonNode root = MAPPER.readTree(bytes);
			if (required(root, "format").intValue() != FORMAT) {
				throw new DamagedFileException("its format is " + required(root, "format"), null);
			}
			Set<Offset> ahead = new LinkedHashSet<>();
			array(root, "ahead").forEach((offset) -> ahead.add(new Offset(offset.stringValue())));
			List<ShardContents.Waiting> retries = new ArrayList<>();
			array(root, "retries").forEach((retry) -> retries
				.add(new ShardContents.Waiting(record(retry), required(retry, "dueMillis").longValue())));
			SortedMap<Long, FailedRecord> letters = new TreeMap<>();
			array(root, "deadLetters")
				.forEach((letter) -> letters.put(required(letter, "number").longValue(), record(letter)));
			return new ShardContents(new Token(required(root, "fence").longValue()),
					required(root, "commit").longValue(), root.path("acquired").asLong(0),
					required(root, "completed").booleanValue(),
					root.has("offset") ? new Offset(root.get("offset").stringValue()) : null, ahead,
					new TreeMap<>(strings(root, "state")), retries, letters, required(root, "lettersEver").longValue(),
					seeks(required(root, "seeks")));
		}
		catch (JacksonException ex) {
			throw new DamagedFileException(ex.getOriginalMessage(), ex);
		}
		catch (IllegalArgumentException | DateTimeException ex) {
			throw new DamagedFileException(String.valueOf(ex.getMessage()), ex);
		}
	}

	private static Seeks seeks(JsonNode node) {
		JsonNode pending = node.path("pending");
		return new Seeks(required(node, "applied").longValue(),
				pending.isMissingNode() ? null
						: new SeekRequest(required(pending, "number").longValue(),
								new Offset(required(pending, "after").stringValue()),
								required(pending, "clearsState").booleanValue()));
	}

	private static FailedRecord record(JsonNode node) {
		return new FailedRecord(new Offset(required(node, "offset").stringValue()),
				node.has("key") ? node.get("key").stringValue() : null, required(node, "payload").binaryValue(),
				strings(node, "headers"), Instant.parse(required(node, "timestamp").stringValue()),
				required(node, "attempts").intValue(), required(node, "rounds").intValue(),
				required(node, "exception").stringValue(), required(node, "stackTrace").stringValue(),
				Instant.parse(required(node, "failedAt").stringValue()));
	}

	private static Map<String, String> strings(JsonNode node, String field) {
		Map<String, String> strings = new LinkedHashMap<>();
		required(node, field).asObject()
			.properties()
			.forEach((entry) -> strings.put(entry.getKey(), entry.getValue().stringValue()));
		return strings;
	}

	private static ArrayNode array(JsonNode node, String field) {
		return required(node, field).asArray();
	}

	private static JsonNode required(JsonNode node, String field) {
		JsonNode found = node.path(field);
		if (found.isMissingNode()) {
			throw new IllegalArgumentException("'" + field + "' is missing");
		}
		return found;
	}

	/** The bytes are not what was written. */
	static final class DamagedFileException extends Exception {

		private static final long serialVersionUID = 1;

		DamagedFileException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

}
