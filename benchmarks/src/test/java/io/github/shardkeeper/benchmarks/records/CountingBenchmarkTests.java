package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.records.CountingBenchmark.Counter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contenders count every record once, by its key.
 */
class CountingBenchmarkTests {

	@Test
	void everyRecordIsCountedOnce(@TempDir Path directory) throws Exception {
		try (RawFigures raw = new RawFigures(directory.resolve("raw.csv"))) {
			// A contender that counts wrong ends the run.
			Rounds<Counter> measured = CountingBenchmark.measure(CountingBenchmark.CONTENDERS,
					new CountingBenchmark.Sizes(2, 50, 4000, 0, 1), raw);

			assertThat(CountingBenchmark.CONTENDERS).allSatisfy(
					(contender) -> assertThat(measured.of(contender, ConsumingBenchmark.RATE).median()).isPositive()
						.isFinite());
		}
	}

}
