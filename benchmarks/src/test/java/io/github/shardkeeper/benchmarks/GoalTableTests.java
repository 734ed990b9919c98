package io.github.shardkeeper.benchmarks;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Goals are compared with figures.
 */
class GoalTableTests {

	private final GoalTable goals = new GoalTable("seen", "asked");

	@Test
	void limitIsKeptAndSmallMissesAreVisible() {
		this.goals.atMost("at the limit", 25, 25);
		this.goals.atMost("over it", 25.2, 25);
		this.goals.atLeast("at the other", 0.85, 0.85);
		this.goals.atLeast("below it", 0.84, 0.85);
		this.goals.atMost("far away", 12_345.6, 2000);

		assertThat(this.goals.lines()).containsExactly("", "| goal for Shardkeeper | seen | asked | |",
				"|---|---:|---:|---|", "| at the limit | 25 | 25 | kept |", "| over it | 25.2 | 25 | **missed** |",
				"| at the other | 0.85 | 0.85 | kept |", "| below it | 0.84 | 0.85 | **missed** |",
				"| far away | 12,346 | 2,000 | **missed** |");
	}

	@Test
	void missingFigureMissesTheGoal() {
		this.goals.atMost("nothing", Double.NaN, 1);
		this.goals.atLeast("nothing", Double.NaN, 1);

		assertThat(this.goals.lines()).filteredOn((line) -> line.contains("**missed**")).hasSize(2);
	}

}
