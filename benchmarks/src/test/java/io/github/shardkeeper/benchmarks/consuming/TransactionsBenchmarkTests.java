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
			measured = TransactionsBenchmark.measure(List.of(Contender.values()), 2, 4000, 0, 1, "on", raw);
		}

		assertThat(measured).containsOnlyKeys(Contender.values());
		assertThat(measured.values())
			.allSatisfy((figures) -> assertThat(figures.rates().median()).isPositive().isFinite());
		assertThat(TransactionsBenchmark.lines(measured)).anyMatch((line) -> line.startsWith("| goal"))
			.noneMatch((line) -> line.contains("NaN"));
		assertThat(TransactionsBenchmark.lines(Map.of(Contender.SINGLE, measured.get(Contender.SINGLE))))
			.anyMatch((line) -> line.startsWith("| " + Contender.SINGLE.text() + " | – | – |"))
			.noneMatch((line) -> line.contains("NaN") || line.contains("kept") || line.contains("missed"));
	}

}
