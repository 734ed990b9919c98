package io.github.shardkeeper.sls;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import com.aliyun.openservices.log.common.FastLog;
import com.aliyun.openservices.log.common.FastLogGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The vendor's parser reads what is written here. */
class LogFormatTests {

	private static final ShardId SHARD = ShardId.of("t", 0);

	private static final String CURSOR = "MTA=";

	private static final String NEXT = "MTE=";

	private static final SlsOffset.Place FROM = SlsOffset.Place.origin(CURSOR);

	@Test
	void objectOfTextsIsWrittenAsContentFields() {
		FastLogGroup group = parsed(record("ann", "{\"method\":\"GET\",\"päth\":\"/ü\"}", Map.of("tenant", "acme")));

		assertThat(group.getLogsCount()).isOne();
		assertThat(group.getLogs(0).getTime()).isEqualTo(1_764_000_000);
		assertThat(contents(group.getLogs(0))).containsExactly("method=GET", "päth=/ü", "shardkeeper_key=ann",
				"shardkeeper_header_tenant=acme");
		assertThat(group.getTopic()).isNull();
		assertThat(group.getSource()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "hello", "{\"n\":1}", "{ \"a\":\"b\"}", "{\"a\":{\"b\":\"c\"}}", "{\"a\":\"b\"} ", "{}",
			"{\"a\":\"b\",\"a\":\"c\"}", "{\"a\":null}", "{\"shardkeeper_key\":\"x\"}", "{\"\":\"x\"}", "{", "",
			"{\"a\":\"\\u0041\"}", "[\"a\"]" })
	void otherTextIsWrittenAsOneField(String payload) {
		assertThat(contents(parsed(record(null, payload, Map.of())).getLogs(0)))
			.containsExactly("shardkeeper_payload=" + payload);
	}

	@Test
	void otherBytesAreWrittenAsBase64() {
		for (byte[] payload : List.of(new byte[] { 0 }, new byte[] { -1, 'a' }, "a\0b".getBytes())) {
			byte[] log = LogEncoder.log(new NewRecord(SHARD, null, payload), 1);
			assertThat(contents(parsed(log).getLogs(0)).get(0)).startsWith("shardkeeper_payload_base64=");
			assertThat(decode(group(List.of(log))).get(0).payload()).isEqualTo(payload);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"method\":\"GET\",\"päth\":\"/ü\"}", "{\"n\":1}", "", "text", "{\"\":\"x\"}",
			"{\"shardkeeper_payload\":\"x\"}", "{\"a\":\"\\\"\\n\\u0001\"}" })
	void recordIsReadAsItWasWritten(String payload) {
		NewRecord written = new NewRecord(SHARD, "kéy", payload.getBytes(StandardCharsets.UTF_8),
				Map.of("tenant", "ácme", "key", "x"));

		SourceRecord read = decode(group(List.of(LogEncoder.log(written, 1_764_000_000L)))).get(0);
		assertThat(read.key()).isEqualTo("kéy");
		assertThat(new String(read.payload(), StandardCharsets.UTF_8)).isEqualTo(payload);
		assertThat(read.headers()).isEqualTo(written.headers());
		assertThat(read.timestampMillis()).isEqualTo(1_764_000_000_000L);
	}

	@Test
	void logsOfOtherProducersAreObjectsWithHeaders() {
		ByteArrayOutputStream group = new ByteArrayOutputStream();
		group.writeBytes(field(1, log(1_764_000_000L, 123_456_789, "user", "ann", "größe", "1")));
		group.writeBytes(field(1, log(1_764_000_001L, 0, "user", "bob")));
		group.writeBytes(field(3, "access".getBytes()));
		group.writeBytes(field(4, "10.0.0.1".getBytes()));
		group.writeBytes(field(6, pair("__hostname__", "web-1")));
		group.writeBytes(field(6, pair("pack", "p1")));

		List<SourceRecord> read = LogDecoder.decode(pulled(field(1, group.toByteArray()), 1), FROM, "user");
		assertThat(read).extracting(SourceRecord::key).containsExactly("ann", "bob");
		assertThat(new String(read.get(0).payload(), StandardCharsets.UTF_8))
			.isEqualTo("{\"user\":\"ann\",\"größe\":\"1\"}");
		assertThat(read.get(0).timestampMillis()).isEqualTo(1_764_000_000_123L);
		assertThat(read.get(1).headers()).isEqualTo(Map.of("__topic__", "access", "__source__", "10.0.0.1",
				"__tag__:__hostname__", "web-1", "__tag__:pack", "p1"));
		assertThat(LogDecoder.decode(pulled(field(1, group.toByteArray()), 1), FROM, "missing"))
			.extracting(SourceRecord::key)
			.containsOnlyNulls();
	}

	@Test
	void offsetsCountTheLogsOfAllGroupsAndTheLastNamesTheNextCursor() {
		byte[] one = LogEncoder.log(new NewRecord(SHARD, null, new byte[] { 'a' }), 1);
		byte[] list = concat(group(List.of(one, one)), group(List.of(one)));

		assertThat(LogDecoder.decode(pulled(list, 2), FROM, null)).extracting((record) -> record.offset().value())
			.containsExactly(CURSOR + ":0", CURSOR + ":1", CURSOR + ":2:" + NEXT);
		assertThat(LogDecoder.decode(pulled(new byte[0], 0), FROM, null)).isEmpty();

		List<SourceRecord> later = LogDecoder.decode(pulled(list, 2), new SlsOffset.Place(CURSOR, "OQ==", 7), null);
		assertThat(later).extracting((record) -> record.offset().value())
			.containsExactly("OQ==:7:" + CURSOR + ":0", "OQ==:8:" + CURSOR + ":1", "OQ==:9:" + CURSOR + ":2:" + NEXT);
		assertThat(later).extracting((record) -> record.identity().value())
			.containsExactly("OQ==:7", "OQ==:8", "OQ==:9");
	}

	/** The vendor's parser would return nothing, and the logs would be lost. */
	@Test
	void malformedAnswerIsRefused() {
		byte[] list = group(List.of(LogEncoder.log(new NewRecord(SHARD, "k", "hello".getBytes()), 1)));
		for (int length = 1; length < list.length; length++) {
			byte[] truncated = Arrays.copyOf(list, length);
			assertThatIllegalArgumentException().as("%d bytes", length)
				.isThrownBy(() -> LogDecoder.decode(pulled(truncated, 1), FROM, null));
		}
		assertThatIllegalArgumentException().isThrownBy(() -> LogDecoder.decode(pulled(list, 2), FROM, null))
			.withMessageContaining("1 log groups, but 2 are announced");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LogDecoder.decode(pulled(new byte[] { 0x0b }, 0), FROM, null))
			.withMessageContaining("wire type 3");
	}

	@Test
	void valueThatOnlyLooksLikeOursIsAField() {
		byte[] group = field(1, field(1, log(1, 0, "shardkeeper_payload_base64", "not base64!")));

		assertThat(new String(LogDecoder.decode(pulled(group, 1), FROM, null).get(0).payload()))
			.isEqualTo("{\"shardkeeper_payload_base64\":\"not base64!\"}");
	}

	private static byte[] record(String key, String payload, Map<String, String> headers) {
		return LogEncoder.log(new NewRecord(SHARD, key, payload.getBytes(StandardCharsets.UTF_8), headers),
				1_764_000_000L);
	}

	private static FastLogGroup parsed(byte[] log) {
		byte[] group = LogEncoder.group(List.of(log));
		return new FastLogGroup(group, 0, group.length);
	}

	private static List<String> contents(FastLog log) {
		List<String> contents = new ArrayList<>();
		log.getContents()
			.forEach((content) -> contents.add(new String(content.getKeyBytes(), StandardCharsets.UTF_8) + "="
					+ new String(content.getValueBytes(), StandardCharsets.UTF_8)));
		return contents;
	}

	private static List<SourceRecord> decode(byte[] list) {
		return LogDecoder.decode(pulled(list, 1), FROM, null);
	}

	private static SlsClient.Pulled pulled(byte[] list, int count) {
		return new SlsClient.Pulled(list, count, NEXT, false, 0);
	}

	private static byte[] group(List<byte[]> logs) {
		return field(1, LogEncoder.group(logs));
	}

	/** A log with a time in nanoseconds, as producers may send it. */
	private static byte[] log(long seconds, int nanoseconds, String... contents) {
		ByteArrayOutputStream log = new ByteArrayOutputStream();
		log.write(1 << 3);
		varint(log, seconds);
		for (int i = 0; i < contents.length; i += 2) {
			log.writeBytes(field(2, pair(contents[i], contents[i + 1])));
		}
		if (nanoseconds > 0) {
			log.write(4 << 3 | 5);
			for (int shift = 0; shift < 32; shift += 8) {
				log.write(nanoseconds >> shift);
			}
		}
		return log.toByteArray();
	}

	private static byte[] pair(String name, String value) {
		return concat(field(1, name.getBytes(StandardCharsets.UTF_8)),
				field(2, value.getBytes(StandardCharsets.UTF_8)));
	}

	private static byte[] field(int number, byte[] value) {
		ByteArrayOutputStream field = new ByteArrayOutputStream();
		field.write(number << 3 | 2);
		varint(field, value.length);
		field.writeBytes(value);
		return field.toByteArray();
	}

	private static void varint(ByteArrayOutputStream out, long number) {
		long rest = number;
		while (rest > 127) {
			out.write((int) (rest & 127 | 128));
			rest >>= 7;
		}
		out.write((int) rest);
	}

	private static byte[] concat(byte[] one, byte[] other) {
		byte[] both = Arrays.copyOf(one, one.length + other.length);
		System.arraycopy(other, 0, both, one.length, other.length);
		return both;
	}

}
