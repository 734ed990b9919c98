package io.github.shardkeeper.benchmarks.sending;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.sending.SendingBenchmark.Variant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every variant runs, small, and has a row.
 */
class SendingBenchmarkTests {

	@Test
	void everyVariantIsMeasured() throws Exception {
		List<String> raw = new ArrayList<>();
		List<String> lines = SendingBenchmark.measure(List.of(Variant.values()), 4, 2000, 0, 1, raw::add);

		assertThat(lines).filteredOn((line) -> line.startsWith("| with"))
			.hasSize(4)
			.allMatch((line) -> line.matches("\\| [a-z ]+ \\| [0-9,]+ \\| [0-9,]+-[0-9,]+ \\| [0-9.]+ \\| [0-9]+ \\|"));
		assertThat(raw).hasSize(4 * 101);
		lines.forEach(System.out::println);
	}

}
