package io.github.shardkeeper.text;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.format.annotation.DurationFormat.Style;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

import static org.assertj.core.api.Assertions.assertThat;

class DurationTextTests {

	@ParameterizedTest
	@CsvSource({ "PT24H, 1d", "PT-24H, -1d", "PT90M, 90m", "PT2H, 2h", "PT90S, 90s", "PT0S, 0s", "PT1.5S, 1500ms",
			"PT-0.001S, -1ms", "PT0.0005S, 500us", "PT0.0005001S, 500100ns", "P106751991167300D, 106751991167300d" })
	void durationHasTheLargestUnitThatCanBeReadAgain(Duration duration, String text) {
		assertThat(DurationText.of(duration)).isEqualTo(text);
		assertThat(DurationFormatterUtils.parse(text, Style.SIMPLE)).isEqualTo(duration);
	}

}
