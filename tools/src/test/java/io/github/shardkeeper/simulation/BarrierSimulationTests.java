package io.github.shardkeeper.simulation;

import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Schedules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many schedules of double barriers with faults. {@code -Dshardkeeper.barriers.schedules}
 * sets their number, {@code -Dshardkeeper.barriers.seed} the first seed.
 */
@MoreInProof
class BarrierSimulationTests {

	@Test
	void roundsAreCompleteOrFailAndNobodyHangs() {
		int schedules = Schedules.count("shardkeeper.barriers.schedules", 200, 500);
		long first = Long.getLong("shardkeeper.barriers.seed", 1);
		Map<String, Integer> faults = new TreeMap<>();
		int completed = 0;
		int failed = 0;
		try (VirtualTime.Runners runners = new VirtualTime.Runners()) {
			for (long seed = first; seed < first + schedules; seed++) {
				BarrierSimulation simulation = new BarrierSimulation(seed, new VirtualTime(runners, false));
				assertThat(simulation.run()).as("seed " + seed + " with " + simulation.faults()).isNull();
				completed += simulation.completed();
				failed += simulation.failed();
				simulation.faults().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
			}
		}
		System.out.printf("Barriers: %d schedules, %d rounds of an instance complete, %d failed, faults %s%n",
				schedules, completed, failed, faults);
		assertThat(completed).isGreaterThan(20 * schedules);
		assertThat(failed).isGreaterThan(schedules);
		assertThat(faults).hasSize(11);
	}

}
