package io.github.shardkeeper.benchmarks.state;

import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.benchmarks.state.StateMovesBenchmark.Takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A shard changes its owner, with its whole state and without losing a record.
 */
class StateMovesBenchmarkTests {

	static Stream<Takeover> contenders() {
		return StateMovesBenchmark.CONTENDERS.stream();
	}

	@ParameterizedTest
	@MethodSource("contenders")
	void everyContenderIsMeasured(Takeover contender) throws Exception {
		// A contender that loses a record, or a part of the state, ends the run.
		Map<String, Double> figures = StateMovesBenchmark.measure(contender, 1500, 1);

		assertThat(figures.get(StateMovesBenchmark.GAP)).isPositive();
		assertThat(figures.get(StateMovesBenchmark.HEAP)).isFinite();
	}

	@Test
	void gapIsBetweenTheRecordsOfTwoOwners() {
		Gaps gaps = new Gaps();
		gaps.handled("one", 0, 1, true);
		gaps.handled("one", 1, 2, true);
		gaps.handled("two", 2, 3, true);

		assertThat(gaps.verified(1).values()).hasSize(1);
		assertThatIllegalStateException().isThrownBy(() -> gaps.verified(2)).withMessageContaining("1 changes");
	}

	@Test
	void lostAndMiscountedRecordsFail() {
		assertFails((gaps) -> gaps.handled("one", 1, 2, true), "Record 1 after -1");
		assertFails((gaps) -> {
			gaps.handled("one", 0, 1, true);
			gaps.handled("one", 0, 2, true);
		}, "Record 0 after 0, as number 2");
		assertFails((gaps) -> gaps.handled("one", 0, 1, false), "found: false");
	}

	@Test
	void repeatedRecordThatFindsTheStateBeforeItIsNoFailure() {
		Gaps gaps = new Gaps();
		gaps.handled("one", 0, 1, true);
		gaps.handled("one", 0, 1, true);

		assertThat(gaps.verified(0).values()).isEmpty();
	}

	private static void assertFails(Consumer<Gaps> records, String message) {
		Gaps gaps = new Gaps();
		records.accept(gaps);

		assertThatIllegalStateException().isThrownBy(() -> gaps.verified(0)).withMessageContaining(message);
	}

	@Test
	void recordsWriteEachEntryOnce() {
		assertThat(Instances.writing(2500).stream().flatMap((number) -> Instances.written(number, 2500).stream()))
			.hasSize(2500)
			.doesNotHaveDuplicates()
			.contains("entry-0", "entry-2499", Instances.read(12_345, 2500));
	}

}
