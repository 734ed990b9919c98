package io.github.shardkeeper.benchmarks.state;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Records are counted in a state that is read on use. */
class StateReadsBenchmarkTests {

	@Test
	void missesAreRequests() throws Exception {
		assertThat(StateReadsBenchmark.measure(new StateReadsBenchmark.Keys("misses", "on-use", 20_000), 500)
			.get("commands per record")).isGreaterThan(0.9);
	}

}
