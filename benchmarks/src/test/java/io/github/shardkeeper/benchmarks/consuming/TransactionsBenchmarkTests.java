package io.github.shardkeeper.benchmarks.consuming;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.consuming.TransactionsBenchmark.Contender;

import static org.assertj.core.api.Assertions.assertThat;

/** Every contender books every record once. */
class TransactionsBenchmarkTests {

	@Test
	void everyContenderBooksEveryRecordOnce(@TempDir Path directory) throws Exception {
		Map<Contender, Figures> measured;
		try (RawFigures raw = new RawFigures(directory.resolve("raw.csv"), List.of("header"))) {
			// A contender that books another sum ends the run.
			measured = TransactionsBenchmark.measure(2, 4000, 0, 1, "on", raw);
		}

		assertThat(measured).containsOnlyKeys(Contender.values());
		assertThat(measured.values())
			.allSatisfy((figures) -> assertThat(figures.rates().median()).isPositive().isFinite());
		assertThat(TransactionsBenchmark.lines(measured)).anyMatch((line) -> line.startsWith("| goal"))
			.noneMatch((line) -> line.contains("NaN"));
	}

}
