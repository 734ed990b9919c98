package io.github.shardkeeper.redis.stream;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.lettuce.core.output.CommandOutput;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Decodes the reply to {@code XREAD} in RESP2 and RESP3. Lettuce's own output creates a
 * map per entry and strings for field names, which costs more than all other work on a
 * small record. The field {@code k} is the key, {@code v} the payload, every other one a
 * header; texts are UTF-8. Of a name that occurs twice, the last value counts. Confined
 * to the thread that reads from the connection, then to the receiver of the reply.
 */
final class XreadOutput extends CommandOutput<String, byte[], List<XreadOutput.Entries>> {

	private static final byte[] EMPTY = {};

	private static final int UNKNOWN = -1;

	private byte[] scratch = new byte[64];

	/** Depth of the reply's streams: 0 in RESP3, 1 in RESP2. */
	private int depthOfStreams = UNKNOWN;

	private @Nullable String stream;

	private @Nullable List<SourceRecord> records;

	private @Nullable String id;

	private long millis;

	private @Nullable String key;

	private byte[] payload = EMPTY;

	private @Nullable Map<String, String> headers;

	/** Field whose value comes next. */
	private Field field = Field.NONE;

	private @Nullable String headerName;

	XreadOutput() {
		super(RedisStreamSource.CODEC, new ArrayList<>());
	}

	/** Begins a map: the streams in RESP3. */
	@Override
	public void multiMap(int count) {
		if (this.depthOfStreams == UNKNOWN) {
			this.depthOfStreams = 0;
		}
	}

	@Override
	public void multi(int count) {
		if (this.depthOfStreams == UNKNOWN) {
			this.depthOfStreams = 1;
		}
		else if (this.stream != null && this.records == null) {
			this.records = new ArrayList<>(count);
		}
	}

	@Override
	public void set(@Nullable ByteBuffer bytes) {
		if (bytes == null) {
			// The read has returned without entries.
			return;
		}
		if (this.stream == null) {
			this.stream = text(bytes);
		}
		else if (this.id == null) {
			readId(bytes);
		}
		else if (this.field == Field.NONE) {
			readName(bytes);
		}
		else {
			readValue(bytes);
		}
	}

	private void readId(ByteBuffer bytes) {
		int length = copy(bytes);
		long number = 0;
		for (int i = 0; i < length && this.scratch[i] != '-'; i++) {
			number = number * 10 + (this.scratch[i] - '0');
		}
		this.millis = number;
		this.id = new String(this.scratch, 0, length, StandardCharsets.ISO_8859_1);
	}

	private void readName(ByteBuffer bytes) {
		byte only = (bytes.remaining() == 1) ? bytes.get(bytes.position()) : 0;
		if (only == RedisStreamSource.KEY_FIELD) {
			this.field = Field.KEY;
		}
		else if (only == RedisStreamSource.PAYLOAD_FIELD) {
			this.field = Field.PAYLOAD;
		}
		else {
			this.field = Field.HEADER;
			this.headerName = text(bytes);
		}
	}

	private void readValue(ByteBuffer bytes) {
		switch (this.field) {
			case KEY -> this.key = text(bytes);
			case PAYLOAD -> {
				this.payload = new byte[bytes.remaining()];
				bytes.get(this.payload);
			}
			default -> addHeader(text(bytes));
		}
		this.field = Field.NONE;
	}

	private void addHeader(String value) {
		Map<String, String> current = this.headers;
		if (current == null) {
			current = new LinkedHashMap<>();
			this.headers = current;
		}
		current.put((this.headerName != null) ? this.headerName : "", value);
	}

	@Override
	public void complete(int depth) {
		int level = depth - this.depthOfStreams;
		if (level == 2 && this.id != null && this.records != null) {
			this.records.add(new SourceRecord(new Offset(this.id), this.key, this.payload,
					(this.headers != null) ? this.headers : Map.of(), this.millis));
			this.id = null;
			this.key = null;
			this.payload = EMPTY;
			this.headers = null;
		}
		else if (level == 1 && this.stream != null && this.records != null) {
			this.output.add(new Entries(this.stream, this.records));
			this.stream = null;
			this.records = null;
		}
	}

	private String text(ByteBuffer bytes) {
		int length = copy(bytes);
		return new String(this.scratch, 0, length, StandardCharsets.UTF_8);
	}

	private int copy(ByteBuffer bytes) {
		int length = bytes.remaining();
		if (this.scratch.length < length) {
			this.scratch = new byte[length];
		}
		bytes.get(this.scratch, 0, length);
		return length;
	}

	private enum Field {

		NONE, KEY, PAYLOAD, HEADER

	}

	/** Next records of one stream, in their order. */
	record Entries(String stream, List<SourceRecord> records) {

	}

}
