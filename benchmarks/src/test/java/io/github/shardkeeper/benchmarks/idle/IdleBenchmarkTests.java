package io.github.shardkeeper.benchmarks.idle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.idle.IdleBenchmark.Rates;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Everybody who can wait for records is measured.
 */
class IdleBenchmarkTests {

	@Test
	void everyContenderHasItsLine() throws Exception {
		List<String> raw = new ArrayList<>();

		// As long as a blocking read of the container waits, of which none may begin in
		// less.
		List<String> lines = IdleBenchmark.measure(List.of(Contender.values()), List.of(3), new Cost.Times(0, 2, 2, 3),
				raw::add);

		for (Contender contender : Contender.values()) {
			assertThat(lines).anyMatch((line) -> line.startsWith("| " + contender.text() + " | 3 |"));
		}
		assertThat(raw).hasSize(6);
		// No figure is zero: an empty one was not measured.
		assertThat(lines).filteredOn((line) -> line.contains(" | 3 |"))
			.hasSize(3)
			.allSatisfy((line) -> assertThat(figures(line)).hasSize(7).allMatch((figure) -> figure > 0));
	}

	@Test
	void costThatGrowsWithShardsMissesTheGoal() {
		List<String> lines = IdleBenchmark
			.goals(new TreeMap<>(Map.of(10, new Rates(2, 800), 100, new Rates(9, 9), 1000, new Rates(2.1, 4000))));

		assertThat(lines).anyMatch(
				(line) -> line.startsWith("| commands per second with 1,000 shards | 1.05 |") && line.contains("kept"))
			.anyMatch((line) -> line.startsWith("| bytes per second with 1,000 shards | 5 |")
					&& line.contains("**missed**"))
			.anyMatch(
					(line) -> line.startsWith("| commands with 1,000 shards | 2.10 | 2.50 |") && line.contains("kept"));
	}

	/**
	 * All but the spread of bytes and the times of processors, which may be too short.
	 */
	private static List<Double> figures(String line) {
		List<String> cells = List.of(line.split(" *\\| *"));
		return Stream.of(3, 4, 5, 9, 10, 11, 2)
			.map((column) -> Double.valueOf(cells.get(column).replace(",", "")))
			.toList();
	}

	@Test
	void unsupportedNumbersOfStreamsAreOmitted() throws Exception {
		assertThat(IdleBenchmark.measure(List.of(Contender.CONTAINER), List.of(1001), new Cost.Times(0, 1, 1, 1),
				(line) -> {
				}))
			.isEmpty();
	}

}
