package io.github.shardkeeper.benchmarks.state;

import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A large state is written, acquired and changed.
 */
class StateBenchmarkTests {

	@Test
	void everyFigureIsMeasured() throws Exception {
		Map<String, Double> figures = StateBenchmark.measure(new StateBenchmark.State(1500), 20);

		assertThat(figures).hasSize(10);
		assertThat(figures.values()).allMatch((figure) -> figure > 0);
	}

}
