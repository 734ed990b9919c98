package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contenders book every record once.
 */
class TransactionsBenchmarkTests {

	@Test
	void everyRecordIsBookedOnce(@TempDir Path directory) throws Exception {
		List<Transactions> contenders = List.of(Transactions.SINGLE_BY_KEY, Transactions.SINGLE_WITHOUT,
				Transactions.LISTS, Transactions.LISTS_BY_HAND);
		try (RawFigures raw = new RawFigures(directory.resolve("raw.csv"))) {
			// A contender that books another sum ends the run.
			Rounds<Transactions> measured = TransactionsBenchmark.measure(contenders,
					new TransactionsBenchmark.Sizes(2, 1600, 0, 1, "on"), raw);

			assertThat(contenders).allSatisfy(
					(contender) -> assertThat(measured.of(contender, ConsumingBenchmark.RATE).median()).isPositive()
						.isFinite());
		}
	}

	@Test
	void onlyShardkeeperHasTheOffsetInTheTransaction() {
		assertThat(Transactions.values()).filteredOn(Transactions::isFenced)
			.containsExactly(Transactions.SINGLE, Transactions.SINGLE_BY_KEY, Transactions.LISTS);
	}

}
