package io.github.shardkeeper.sls;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.source.SourceRecord;

/**
 * Decodes the log groups of a reply as records; {@link LogEncoder} describes the format.
 * Confined to the thread that decodes.
 */
final class LogDecoder {

	static final String TOPIC = "__topic__";

	static final String SOURCE = "__source__";

	static final String TAG = "__tag__:";

	private final @Nullable String keyField;

	private final SlsOffset.Place from;

	private final @Nullable String next;

	private final List<SourceRecord> records = new ArrayList<>();

	private LogDecoder(SlsClient.Pulled pulled, SlsOffset.Place from, @Nullable String keyField) {
		this.from = from;
		this.next = pulled.next();
		this.keyField = keyField;
	}

	/**
	 * Decodes a reply.
	 * @param from the place that was read
	 * @param keyField the content field that is the key of logs without one
	 * @return all records, in order
	 * @throws IllegalArgumentException if the reply is malformed
	 */
	static List<SourceRecord> decode(SlsClient.Pulled pulled, SlsOffset.Place from, @Nullable String keyField) {
		LogDecoder decoder = new LogDecoder(pulled, from, keyField);
		Message list = new Message(pulled.logGroups());
		int groups = 0;
		while (list.next()) {
			if (list.field == 1) {
				decoder.group(list.message());
				groups++;
			}
		}
		if (groups != pulled.count()) {
			throw new IllegalArgumentException("%d log groups, but %d are announced".formatted(groups, pulled.count()));
		}
		decoder.endAtNextCursor();
		return decoder.records;
	}

	/** The last record names the cursor where reading resumes after it. */
	private void endAtNextCursor() {
		if (!this.records.isEmpty()) {
			int last = this.records.size() - 1;
			SourceRecord record = this.records.get(last);
			this.records.set(last, record(this.from.log(last, this.next), record.key(), record.payload(),
					record.headers(), record.timestampMillis()));
		}
	}

	private void group(Message group) {
		List<Message> logs = new ArrayList<>();
		Map<String, String> headers = new LinkedHashMap<>();
		while (group.next()) {
			switch (group.field) {
				case 1 -> logs.add(group.message());
				case 3 -> putIfNotEmpty(headers, TOPIC, group.text());
				case 4 -> putIfNotEmpty(headers, SOURCE, group.text());
				case 6 -> {
					Message tag = group.message();
					Pair pair = pair(tag);
					headers.put(TAG + pair.name, pair.value);
				}
				default -> {
				}
			}
		}
		logs.forEach((log) -> log(log, headers));
	}

	private static void putIfNotEmpty(Map<String, String> headers, String name, String value) {
		if (!value.isEmpty()) {
			headers.put(name, value);
		}
	}

	private void log(Message log, Map<String, String> groupHeaders) {
		long millis = 0;
		Map<String, String> fields = new LinkedHashMap<>();
		while (log.next()) {
			switch (log.field) {
				case 1 -> millis += (log.number & 0xffffffffL) * 1000;
				case 2 -> {
					Pair content = pair(log.message());
					fields.put(content.name, content.value);
				}
				case 4 -> millis += (log.number & 0xffffffffL) / 1_000_000;
				default -> {
				}
			}
		}
		Map<String, String> headers = headers(fields, groupHeaders);
		String ownKey = fields.remove(LogFields.KEY);
		String key = (ownKey != null) ? ownKey : (this.keyField != null) ? fields.get(this.keyField) : null;
		byte[] payload = payload(fields);
		this.records.add(record(this.from.log(this.records.size(), null), key, payload, headers, millis));
	}

	private static SourceRecord record(SlsOffset offset, @Nullable String key, byte[] payload,
			Map<String, String> headers, long timestampMillis) {
		return new SourceRecord(offset.toOffset(), key, payload, headers, timestampMillis, offset.identity());
	}

	private static Map<String, String> headers(Map<String, String> fields, Map<String, String> groupHeaders) {
		Map<String, String> own = new HashMap<>();
		fields.forEach((name, value) -> {
			if (name.startsWith(LogFields.HEADER)) {
				own.put(name.substring(LogFields.HEADER.length()), value);
			}
		});
		if (own.isEmpty()) {
			return groupHeaders.isEmpty() ? Map.of() : groupHeaders;
		}
		own.keySet().forEach((name) -> fields.remove(LogFields.HEADER + name));
		Map<String, String> all = new LinkedHashMap<>(groupHeaders);
		all.putAll(own);
		return all;
	}

	private static byte[] payload(Map<String, String> fields) {
		String text = fields.get(LogFields.PAYLOAD);
		if (text != null) {
			return text.getBytes(StandardCharsets.UTF_8);
		}
		String base64 = fields.get(LogFields.PAYLOAD_BASE64);
		if (base64 != null) {
			try {
				return Base64.getDecoder().decode(base64);
			}
			catch (IllegalArgumentException ex) {
				// Not written by Shardkeeper: a field like any other.
			}
		}
		return LogEncoder.json(fields);
	}

	private static Pair pair(Message message) {
		String name = "";
		String value = "";
		while (message.next()) {
			if (message.field == 1) {
				name = message.text();
			}
			else if (message.field == 2) {
				value = message.text();
			}
		}
		return new Pair(name, value);
	}

	private record Pair(String name, String value) {

	}

	/** Fields of a message in Protocol Buffers, one after the other. */
	private static final class Message {

		private final byte[] bytes;

		private final int end;

		private int position;

		private int field;

		/** Value of a number field. */
		private long number;

		/** Begin and length of the value of a field that holds bytes. */
		private int from;

		private int length;

		Message(byte[] bytes) {
			this(bytes, 0, bytes.length);
		}

		private Message(byte[] bytes, int from, int length) {
			this.bytes = bytes;
			this.position = from;
			this.end = from + length;
		}

		boolean next() {
			if (this.position == this.end) {
				return false;
			}
			long tag = varint();
			this.field = (int) (tag >>> 3);
			this.number = 0;
			this.from = this.position;
			this.length = 0;
			switch ((int) tag & 7) {
				case 0 -> this.number = varint();
				case 1 -> this.number = fixed(8);
				case 2 -> {
					long size = varint();
					this.from = this.position;
					this.length = (int) Math.min(size, Integer.MAX_VALUE);
					skip(size);
				}
				case 5 -> this.number = fixed(4);
				default -> throw new IllegalArgumentException("unknown wire type " + (tag & 7));
			}
			return true;
		}

		Message message() {
			return new Message(this.bytes, this.from, this.length);
		}

		String text() {
			return new String(this.bytes, this.from, this.length, StandardCharsets.UTF_8);
		}

		private long fixed(int size) {
			skip(size);
			long value = 0;
			for (int i = 1; i <= size; i++) {
				value = value << 8 | this.bytes[this.position - i] & 0xff;
			}
			return value;
		}

		private void skip(long size) {
			if (size < 0 || size > this.end - this.position) {
				throw truncated();
			}
			this.position += (int) size;
		}

		private long varint() {
			long value = 0;
			for (int shift = 0; shift < 64; shift += 7) {
				if (this.position == this.end) {
					throw truncated();
				}
				byte b = this.bytes[this.position++];
				value |= (long) (b & 0x7f) << shift;
				if (b >= 0) {
					return value;
				}
			}
			throw new IllegalArgumentException("a number of more than 64 bits");
		}

		private static IllegalArgumentException truncated() {
			return new IllegalArgumentException("truncated");
		}

	}

}
