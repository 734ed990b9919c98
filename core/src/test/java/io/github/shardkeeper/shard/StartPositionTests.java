package io.github.shardkeeper.shard;

import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StartPositionTests {

	@Test
	void keywordsAreParsed() {
		assertThat(StartPosition.parse("earliest")).isEqualTo(StartPosition.EARLIEST);
		assertThat(StartPosition.parse(" Latest ")).isEqualTo(StartPosition.LATEST);
	}

	@ParameterizedTest
	@CsvSource({ "2026-11-21T10:00:00Z,2026-11-21T10:00:00Z", "2026-11-21T10:00:00.25Z,2026-11-21T10:00:00.250Z",
			"2026-11-21T11:30+01:30,2026-11-21T10:00:00Z" })
	void timesAreParsed(String text, Instant time) {
		assertThat(StartPosition.parse(text)).isEqualTo(StartPosition.at(time));
	}

	@ParameterizedTest
	@CsvSource({ "1795234348101-0", "1795234348101", "earlist", "2026-11-21" })
	void otherTextIsAnOffset(String text) {
		assertThat(StartPosition.parse(text)).isEqualTo(StartPosition.from(new Offset(text)));
	}

	@Test
	void consumerGroupIsParsed() {
		assertThat(StartPosition.parse(" group: booking.eu ")).isEqualTo(StartPosition.group("booking.eu"));
	}

	@ParameterizedTest
	@ValueSource(strings = { " ", "group:", "group: " })
	void blankTextIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> StartPosition.parse(text))
			.withMessageContaining("must not be blank");
	}

	@ParameterizedTest
	@CsvSource({ "earliest", "latest", "2026-11-21T10:00:00Z", "17-3", "group:booking" })
	void textIsParsedBack(String text) {
		assertThat(StartPosition.parse(text)).hasToString(text);
	}

}
