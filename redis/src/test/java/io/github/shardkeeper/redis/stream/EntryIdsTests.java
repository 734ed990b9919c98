package io.github.shardkeeper.redis.stream;

import java.time.Instant;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class EntryIdsTests {

	private static final String MAX = "18446744073709551615";

	@ParameterizedTest
	@CsvSource({ "17-3,17-2", "17-1,17-0", "17-0,16-" + MAX, "17,16-" + MAX, "1-0,0-" + MAX, "0-1,0-0", "0-0,0-0",
			"0,0-0", MAX + "-" + MAX + "," + MAX + "-18446744073709551614" })
	void beforeAnId(String id, String before) {
		assertThat(EntryIds.before(new Offset(id))).isEqualTo(new Offset(before));
	}

	@ParameterizedTest
	@CsvSource({ "1970-01-01T00:00:00.017Z,16-" + MAX, "1970-01-01T00:00:00.0179Z,16-" + MAX,
			"1970-01-01T00:00:00Z,0-0", "1969-12-31T00:00:00Z,0-0" })
	void beforeATime(Instant time, String before) {
		assertThat(EntryIds.before(time)).isEqualTo(new Offset(before));
	}

	@ParameterizedTest
	@ValueSource(strings = { "latst", "17-", "-17", "17-3-4", "2026-11-21", "17-x", " 17", "18446744073709551616",
			"1-18446744073709551616", "+1", "$" })
	void invalidIdIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> EntryIds.before(new Offset(text)))
			.withMessageContaining("'" + text + "'")
			.withMessageContaining("1795234348101-0");
	}

}
