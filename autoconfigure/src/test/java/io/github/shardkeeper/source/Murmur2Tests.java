package io.github.shardkeeper.source;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class Murmur2Tests {

	/** The vectors of Kafka's own tests. */
	@ParameterizedTest
	@CsvSource({ "21, -973932308", "foobar, -790332482", "a-little-bit-long-string, -985981536",
			"a-little-bit-longer-string, -1486304829", "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8, -58897971",
			"abc, 479470107" })
	void hashesAsKafkaDoes(String text, int hash) {
		assertThat(Murmur2.hash(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(hash);
	}

	@Test
	void hashesAnEmptyText() {
		assertThat(Murmur2.hash(new byte[0])).isEqualTo(275646681);
	}

}
