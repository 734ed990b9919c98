package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecordOutcomesTests {

	@Test
	void everyNumberIsHandledOrDeadLetter() {
		assertThat(RecordOutcomes.check("0", 3, Map.of("n1", "1", "n3", "1"), List.of(2L))).isEmpty();
		assertThat(RecordOutcomes.count(Map.of("n1", "1", "n3", "1", "all", "2"), List.of(2L, 2L))).isEqualTo(3);
	}

	@Test
	void findsLostAndRepeatedNumbers() {
		assertThat(RecordOutcomes.check("0", 1, Map.of(), List.of())).singleElement().asString().contains("0: 1 was");
		assertThat(RecordOutcomes.check("0", 1, Map.of("n1", "2"), List.of())).hasSize(1);
		assertThat(RecordOutcomes.check("0", 1, Map.of("n1", "1"), List.of(1L))).hasSize(1);
		assertThat(RecordOutcomes.check("0", 1, Map.of(), List.of(1L, 1L))).hasSize(1);
	}

	@Test
	void findsHandledPoison() {
		assertThat(RecordOutcomes.check("0", 7,
				Map.of("n1", "1", "n2", "1", "n3", "1", "n4", "1", "n5", "1", "n6", "1", "n7", "1"), List.of()))
			.singleElement()
			.asString()
			.contains("7 was handled");
	}

}
