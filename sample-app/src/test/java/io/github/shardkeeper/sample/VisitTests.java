package io.github.shardkeeper.sample;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class VisitTests {

	private static final String START = "192.0.2.1 - frank lee [17/May/2015:10:05:03 +0000] ";

	@Test
	void readsCombinedFormat() {
		assertThat(Visit.parse(START + "\"GET / HTTP/1.1\" 200 2326 \"http://example.org/\" \"curl/8\""))
			.isEqualTo(new Visit(2326, "17/May/2015:10:05:03 +0000"));
	}

	@Test
	void readsCommonFormat() {
		assertThat(Visit.parse(START + "\"GET / HTTP/1.1\" 200 2326").bytes()).isEqualTo(2326);
	}

	@Test
	void nothingSentIsZeroBytes() {
		assertThat(Visit.parse(START + "\"HEAD / HTTP/1.1\" 304 - \"-\" \"-\""))
			.isEqualTo(new Visit(0, "17/May/2015:10:05:03 +0000"));
	}

	@Test
	void escapedQuotesDoNotEndAField() {
		assertThat(Visit.parse(START + "\"GET /\\\"x\\\\ HTTP/1.1\" 200 7 \"-\" \"a \\\"quoted\\\" agent\"").bytes())
			.isEqualTo(7);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "192.0.2.1", "192.0.2.1 - - [17/May/2015:10:05:03 +0000",
			START + "\"GET / HTTP/1.1\" 200 235 \"-\" \"Mozilla/5.0 (cut off",
			START + "\"GET / HTTP/1.1\" 200 99999999999999999999 \"-\" \"-\"" })
	void damagedLineIsAVisitOfNoBytes(String line) {
		assertThat(Visit.parse(line)).isEqualTo(Visit.UNREADABLE);
	}

	@Test
	void hostileLineIsReadInNoTime() {
		String hostile = START + "\"" + "\\x16\\\"".repeat(100_000) + "\" 400 5 \"-\" \"-\"";
		assertThat(Visit.parse(hostile).bytes()).isEqualTo(5);
	}

}
