package io.github.shardkeeper.benchmarks.sending;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.sending.SendingBenchmark.Sizes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every contender sends in every form, small, and has its rows.
 */
class SendingBenchmarkTests {

	@Test
	void everyContenderIsMeasured() throws Exception {
		List<String> raw = new ArrayList<>();

		List<String> lines = SendingBenchmark.measure(List.of(Contender.values()), new Sizes(4, 2000, 300, 0, 1),
				raw::add);

		String ratio = "[0-9.]+ \\([0-9.]+-[0-9.]+\\) \\| ";
		String rate = "[0-9,]+ \\([0-9,]+-[0-9,]+\\) \\| ";
		for (Contender contender : Contender.values()) {
			assertThat(lines)
				.anyMatch((line) -> (line + " ").matches("\\| " + contender.text() + " \\| (" + ratio + "){3}"))
				.anyMatch((line) -> line.matches("\\| " + contender.text() + " \\| (" + rate + "){3}([0-9]+|–) \\|"));
		}
		assertThat(lines).filteredOn((line) -> line.endsWith("kept |") || line.endsWith("**missed** |")).hasSize(3);
		assertThat(raw).hasSize(3 * Contender.values().length);
	}

}
