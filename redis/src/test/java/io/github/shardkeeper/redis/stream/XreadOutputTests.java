package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.lettuce.core.protocol.RedisStateMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.redis.stream.XreadOutput.Entries;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

class XreadOutputTests {

	private static final String RESP2 = "*2\r\n*2\r\n" + bulk("s1") + "*2\r\n" + entry("1731-0", "k", "ann", "v", "one")
			+ entry("1731-1", "v", "two", "tenant", "acme", "k", "bob", "trace", "kv") + "*2\r\n" + bulk("s2")
			+ "*1\r\n" + entry("1732-7", "something", "else", "", "unnamed");

	private static final String RESP3 = "%2\r\n" + bulk("s1") + "*2\r\n" + entry("1731-0", "k", "ann", "v", "one")
			+ entry("1731-1", "v", "two", "tenant", "acme", "k", "bob", "trace", "kv") + bulk("s2") + "*1\r\n"
			+ entry("1732-7", "something", "else", "", "unnamed");

	@ParameterizedTest
	@ValueSource(strings = { RESP2_NAME, RESP3_NAME })
	void readsEveryEntryOfEveryStream(String protocol) {
		String reply = protocol.equals(RESP2_NAME) ? RESP2 : RESP3;
		for (int piece : new int[] { 1, 7, 1000 }) {
			List<Entries> read = read(reply, piece);

			assertThat(read).extracting(Entries::stream).containsExactly("s1", "s2");
			List<SourceRecord> first = read.get(0).records();
			assertThat(first).hasSize(2);
			assertRecord(first.get(0), "1731-0", 1731, "ann", "one", Map.of());
			assertRecord(first.get(1), "1731-1", 1731, "bob", "two", Map.of("tenant", "acme", "trace", "kv"));
			assertThat(read.get(1).records()).hasSize(1);
			assertRecord(read.get(1).records().get(0), "1732-7", 1732, null, "",
					Map.of("something", "else", "", "unnamed"));
		}
	}

	@Test
	void headersKeepTheirOrder() {
		List<Entries> read = read(RESP2, 1000);

		assertThat(read.get(0).records().get(1).headers().keySet()).containsExactly("tenant", "trace");
	}

	@Test
	void recordsWithoutHeadersShareTheEmptyMap() {
		assertThat(read(RESP3, 1000).get(0).records().get(0).headers()).isSameAs(Map.of());
	}

	@ParameterizedTest
	@ValueSource(strings = { "*-1\r\n", "_\r\n", "*0\r\n", "%0\r\n" })
	void nothingUntilTheEndOfTheBlockIsNoRecord(String reply) {
		assertThat(read(reply, 1000)).isEmpty();
	}

	@Test
	void errorFailsTheRead() {
		XreadOutput output = new XreadOutput();
		decode("-WRONGTYPE no stream\r\n", 1000, output);

		assertThat(output.getError()).isEqualTo("WRONGTYPE no stream");
	}

	@Test
	void longAndNonAsciiTextsAreReadUnchanged() {
		String longText = "é".repeat(500);
		List<Entries> read = read("%1\r\n" + bulk("s") + "*1\r\n" + entry("1-1", "k", longText, longText, longText),
				1000);

		assertRecord(read.get(0).records().get(0), "1-1", 1, longText, "", Map.of(longText, longText));
	}

	@Test
	void lastValueOfARepeatedFieldCounts() {
		List<Entries> read = read(
				"%1\r\n" + bulk("s") + "*1\r\n" + entry("1-1", "v", "a", "h", "1", "v", "b", "h", "2"), 1000);

		assertRecord(read.get(0).records().get(0), "1-1", 1, null, "b", Map.of("h", "2"));
	}

	private static final String RESP2_NAME = "RESP2";

	private static final String RESP3_NAME = "RESP3";

	private static void assertRecord(SourceRecord record, String id, long millis, String key, String payload,
			Map<String, String> headers) {
		assertThat(record.offset()).isEqualTo(new Offset(id));
		assertThat(record.timestamp().toEpochMilli()).isEqualTo(millis);
		assertThat(record.key()).isEqualTo(key);
		assertThat(record.payload()).asString().isEqualTo(payload);
		assertThat(record.headers()).isEqualTo(headers);
	}

	private static List<Entries> read(String reply, int piece) {
		XreadOutput output = new XreadOutput();
		decode(reply, piece, output);
		assertThat(output.hasError()).isFalse();
		return output.get();
	}

	/** Decodes the reply in parts of a given size, as a network delivers it. */
	private static void decode(String reply, int piece, XreadOutput output) {
		byte[] bytes = reply.getBytes(StandardCharsets.UTF_8);
		RedisStateMachine decoder = new RedisStateMachine();
		ByteBuf buffer = Unpooled.buffer();
		boolean complete = false;
		for (int from = 0; from < bytes.length; from += piece) {
			buffer.writeBytes(bytes, from, Math.min(piece, bytes.length - from));
			complete = decoder.decode(buffer, output, (failure) -> {
				throw new AssertionError(failure);
			});
		}
		assertThat(complete).isTrue();
	}

	private static String entry(String id, String... fields) {
		StringBuilder text = new StringBuilder("*2\r\n").append(bulk(id))
			.append('*')
			.append(fields.length)
			.append("\r\n");
		for (String field : fields) {
			text.append(bulk(field));
		}
		return text.toString();
	}

	private static String bulk(String text) {
		return "$" + text.getBytes(StandardCharsets.UTF_8).length + "\r\n" + text + "\r\n";
	}

}
