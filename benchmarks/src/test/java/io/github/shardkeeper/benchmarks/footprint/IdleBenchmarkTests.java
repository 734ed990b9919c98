package io.github.shardkeeper.benchmarks.footprint;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.footprint.IdleBenchmark.Waiting;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Those who can wait for records are measured.
 */
class IdleBenchmarkTests {

	@Test
	void everyFigureIsMeasured() throws Exception {
		for (Waiting contender : Waiting.all(List.of(3)).subList(0, 2)) {
			// As long as a blocking read of the container waits.
			Map<String, Double> figures = IdleBenchmark.measure(contender, 0, 2);

			assertThat(figures).hasSize(7);
			// The times of processors may be too short.
			assertThat(figures).as(contender.text())
				.allSatisfy((figure, value) -> assertThat(value)
					.isGreaterThan(figure.startsWith("processor") ? -1.0 : 0.0));
		}
	}

	@Test
	void moreStreamsThanTheContainerCanReadAreOmitted() {
		assertThat(Waiting.all(List.of(10, 10_000))).extracting(Waiting::text)
			.containsExactly("Shardkeeper, 10", "Shardkeeper, 10,000", "Spring container, 10",
					"Spring container, pooled connections, 10");
	}

}
