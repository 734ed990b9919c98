package io.github.shardkeeper.benchmarks.records;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.benchmarks.records.LatencyProcess.Receiver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Every contender receives every record once.
 */
class LatencyBenchmarkTests {

	@ParameterizedTest
	@EnumSource
	void everyContenderIsMeasured(Receiver contender) throws Exception {
		// A contender that loses or repeats a record ends the run.
		Map<String, Double> figures = LatencyBenchmark.measure(contender, new LatencyBenchmark.Sizes(4, 200, 1, 0));

		assertThat(figures.get(LatencyBenchmark.MEDIAN)).isPositive()
			.isLessThanOrEqualTo(figures.get(LatencyBenchmark.P99));
	}

	@Test
	void latencyCountsFromTheIntendedTime() {
		Arrivals arrivals = new Arrivals();
		arrivals.handled(Arrivals.payload(7, System.nanoTime() - 2_000_000_000L));

		assertThat(arrivals.micros(7, 9).values()).singleElement()
			.satisfies((micros) -> assertThat(micros).isGreaterThanOrEqualTo(2e6));
	}

	@Test
	void recordThatComesTwiceFails() {
		Arrivals arrivals = new Arrivals();
		byte[] payload = Arrivals.payload(7, System.nanoTime());
		arrivals.handled(payload);

		assertThatIllegalStateException().isThrownBy(() -> arrivals.handled(payload)).withMessageContaining("twice");
	}

}
