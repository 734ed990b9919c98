package io.github.shardkeeper.template;

import java.nio.charset.StandardCharsets;
import java.util.Random;

import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class Murmur2Tests {

	/** The vectors of Kafka's own tests, which docs/guides/sending.md shows. */
	@ParameterizedTest
	@CsvSource({ "21, -973932308", "foobar, -790332482", "a-little-bit-long-string, -985981536",
			"a-little-bit-longer-string, -1486304829", "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8, -58897971",
			"abc, 479470107" })
	void hashesAsKafkaDoes(String text, int hash) {
		assertThat(Murmur2.hash(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(hash);
	}

	@Test
	void emptyTextHasAHash() {
		assertThat(Murmur2.hash(new byte[0])).isEqualTo(275646681);
	}

	@Test
	void hashEqualsThatOfKafkasClient() {
		Random random = new Random(7);
		for (int length = 0; length < 200; length++) {
			for (int i = 0; i < 50; i++) {
				byte[] bytes = new byte[length];
				random.nextBytes(bytes);
				assertThat(Murmur2.hash(bytes)).isEqualTo(Utils.murmur2(bytes));
			}
		}
	}

	@Test
	void shardOfAKeyIsKafkasPartition() {
		for (String key : new String[] { "", "abc", "foobar", "ann", "grün", "客户", "😀" }) {
			for (int shards : new int[] { 1, 2, 7, 16, 100_000 }) {
				assertThat(KeyedShardTemplate.shardOf(key, shards))
					.isEqualTo(Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % shards);
			}
		}
	}

}
