package io.github.shardkeeper.sls;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Encodes records as logs, in the service's format, which is Protocol Buffers:
 *
 * <pre>
 * LogGroup: 1 Log*, 3 topic, 4 source, 6 tag*       Log: 1 time in seconds, 2 Content*, 4 nanoseconds
 * Content: 1 key, 2 value                           tag: 1 key, 2 value
 * </pre>
 *
 * A payload that is a JSON object of strings becomes one content field per property, if
 * the same bytes can be made of these again. Any other payload is a single field, as
 * text, or as base64 if it is not text. Thread-safe.
 */
final class LogEncoder {

	private static final JsonMapper JSON = JsonMapper.builder().build();

	private LogEncoder() {
	}

	/** Encodes a record as a log. */
	static byte[] log(NewRecord newRecord, long epochSecond) {
		ByteArrayOutputStream log = new ByteArrayOutputStream(64 + newRecord.payload().length);
		tag(log, 1, 0);
		varint(log, epochSecond);
		Map<String, String> fields = fields(newRecord.payload());
		if (fields != null) {
			fields.forEach((name, value) -> content(log, name, utf8(value)));
		}
		else if (isText(newRecord.payload())) {
			content(log, LogFields.PAYLOAD, newRecord.payload());
		}
		else {
			content(log, LogFields.PAYLOAD_BASE64, Base64.getEncoder().encode(newRecord.payload()));
		}
		String key = newRecord.key();
		if (key != null) {
			content(log, LogFields.KEY, utf8(key));
		}
		newRecord.headers().forEach((name, value) -> content(log, LogFields.HEADER + name, utf8(value)));
		return log.toByteArray();
	}

	/** Encodes logs as a log group, without topic, source and tags. */
	static byte[] group(List<byte[]> logs) {
		ByteArrayOutputStream group = new ByteArrayOutputStream();
		logs.forEach((log) -> bytes(group, 1, log));
		return group.toByteArray();
	}

	private static @Nullable Map<String, String> fields(byte[] payload) {
		if (payload.length < 2 || payload[0] != '{') {
			return null;
		}
		Map<String, String> fields = new LinkedHashMap<>();
		try (JsonParser parser = JSON.createParser(payload)) {
			parser.nextToken();
			while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
				String name = parser.currentName();
				if (parser.nextToken() != JsonToken.VALUE_STRING || name.isEmpty()
						|| name.startsWith(LogFields.PREFIX)) {
					return null;
				}
				fields.put(name, parser.getString());
			}
		}
		catch (JacksonException ex) {
			// Not JSON, though it looks like it.
			return null;
		}
		return (!fields.isEmpty() && Arrays.equals(json(fields), payload)) ? fields : null;
	}

	static byte[] json(Map<String, String> fields) {
		return JSON.writeValueAsBytes(fields);
	}

	private static boolean isText(byte[] payload) {
		for (byte b : payload) {
			if (b == 0) {
				return false;
			}
		}
		try {
			StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload));
			return true;
		}
		catch (CharacterCodingException ex) {
			return false;
		}
	}

	private static void content(ByteArrayOutputStream log, String name, byte[] value) {
		ByteArrayOutputStream content = new ByteArrayOutputStream(16 + name.length() + value.length);
		bytes(content, 1, utf8(name));
		bytes(content, 2, value);
		bytes(log, 2, content.toByteArray());
	}

	private static void bytes(ByteArrayOutputStream out, int field, byte[] value) {
		tag(out, field, 2);
		varint(out, value.length);
		out.writeBytes(value);
	}

	private static void tag(ByteArrayOutputStream out, int field, int type) {
		varint(out, field << 3 | type);
	}

	private static void varint(ByteArrayOutputStream out, long value) {
		long rest = value;
		while ((rest & ~0x7fL) != 0) {
			out.write((int) (rest & 0x7f | 0x80));
			rest >>>= 7;
		}
		out.write((int) rest);
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
