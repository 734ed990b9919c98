package io.github.shardkeeper.benchmarks.idle;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Everybody who can wait for records is measured.
 */
class IdleBenchmarkTests {

	@Test
	void everyContenderHasItsLine() throws Exception {
		List<String> raw = new ArrayList<>();

		List<String> lines = IdleBenchmark.measure(List.of(Contender.values()), List.of(3), new Cost.Times(0, 2, 1, 2),
				raw);

		for (Contender contender : Contender.values()) {
			assertThat(lines).anyMatch((line) -> line.startsWith("| " + contender.text() + " | 3 |"));
		}
		assertThat(raw).hasSize(6);
	}

	@Test
	void whatAContenderCannotHaveIsLeftOut() throws Exception {
		assertThat(IdleBenchmark.measure(List.of(Contender.CONTAINER), List.of(1001), new Cost.Times(0, 1, 1, 1),
				new ArrayList<>()))
			.isEmpty();
	}

}
