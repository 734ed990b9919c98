package io.github.shardkeeper.sample;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class AccessLineTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = false,
			value = { "192.0.2.1 - - [x]|192.0.2.1", "2001:db8::1 -|2001:db8::1", "garbled|garbled", " x|''", "''|''" })
	void clientIsWhatCutGives(String text, String client) {
		assertThat(new AccessLine(0, text).client()).isEqualTo(client);
	}

}
