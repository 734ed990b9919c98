package io.github.shardkeeper.benchmarks.records;

import java.util.Map;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.benchmarks.records.SendingClient.Kind;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contenders send in every form.
 */
class SendingBenchmarkTests {

	@ParameterizedTest
	@EnumSource(names = { "BARE", "RETRIES_AND_IDS", "KAFKA" })
	void everyFormIsMeasured(Kind contender) throws Exception {
		Map<String, Double> figures = SendingBenchmark.measure(contender, 4, 2000, 300);

		assertThat(figures).containsKeys(SendingBenchmark.ONE_BY_ONE, SendingBenchmark.ASYNCHRONOUSLY,
				SendingBenchmark.IN_BATCHES);
		assertThat(figures.values()).allMatch((figure) -> figure > 0);
	}

}
