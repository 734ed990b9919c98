package io.github.shardkeeper.benchmarks;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is asked for is compared with what was seen.
 */
class AskedTests {

	private final Asked asked = new Asked("seen", "asked");

	@Test
	void theLimitItselfIsKeptAndWhatIsMissedByLittleLooksMissed() {
		this.asked.atMost("at the limit", 25, 25);
		this.asked.atMost("over it", 25.2, 25);
		this.asked.atLeast("at the other", 0.85, 0.85);
		this.asked.atLeast("below it", 0.84, 0.85);
		this.asked.atMost("far away", 12_345.6, 2000);

		assertThat(this.asked.lines()).containsExactly("", "| asked of Shardkeeper | seen | asked | |",
				"|---|---:|---:|---|", "| at the limit | 25 | 25 | kept |", "| over it | 25.2 | 25 | **missed** |",
				"| at the other | 0.85 | 0.85 | kept |", "| below it | 0.84 | 0.85 | **missed** |",
				"| far away | 12,346 | 2,000 | **missed** |");
	}

	@Test
	void whatWasNotMeasuredIsNotReached() {
		this.asked.atMost("nothing", Double.NaN, 1);
		this.asked.atLeast("nothing", Double.NaN, 1);

		assertThat(this.asked.lines()).filteredOn((line) -> line.contains("**missed**")).hasSize(2);
	}

}
