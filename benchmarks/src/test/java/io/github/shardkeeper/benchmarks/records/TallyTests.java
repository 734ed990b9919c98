package io.github.shardkeeper.benchmarks.records;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A tally sees what is missing, repeated, or out of order.
 */
class TallyTests {

	@Test
	void recordsOutOfOrderOrTwiceFail() {
		assertThatIllegalStateException().isThrownBy(handled(3, 0, 0, 2, 1)::verify)
			.withMessageStartingWith("1 records handled out");
		assertThatIllegalStateException().isThrownBy(handled(2, 0, 0, 0, 1)::verify)
			.withMessageContaining(" 1 more than once");
	}

	@Test
	void withKeysOnlyTheOrderOfEachKeyCounts() {
		handled(4, 2, 1, 0, 3, 2).verify();

		assertThatIllegalStateException().isThrownBy(handled(4, 2, 2, 1, 0, 3)::verify)
			.withMessageStartingWith("1 records handled out");
	}

	@Test
	void missingRecordsFail() {
		assertThatIllegalStateException().isThrownBy(handled(2, 0, 0)::verify).withMessageContaining("unfinished: 1");
	}

	@Test
	void countsThatDifferFromThoseOfTheKeysFail() {
		CountedKeys keys = new CountedKeys(1, 1);
		Tally tally = new Tally(1, 2);
		for (int number = 0; number < 2; number++) {
			byte[] payload = Tally.payload(0, number, 100);
			keys.next(payload);
			tally.counted(payload, 1);
		}

		assertThatIllegalStateException().isThrownBy(tally::verify).withMessageContaining("1 miscounted");
	}

	private static Tally handled(int records, int keys, int... numbers) {
		Tally tally = new Tally(1, records, keys);
		for (int number : numbers) {
			tally.handled(Tally.payload(0, number, 100));
		}
		return tally;
	}

}
