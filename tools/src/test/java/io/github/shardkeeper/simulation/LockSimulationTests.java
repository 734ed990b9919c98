package io.github.shardkeeper.simulation;

import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Schedules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many schedules of locks with faults. {@code -Dshardkeeper.locks.schedules} sets their
 * number, {@code -Dshardkeeper.locks.seed} the first seed.
 */
@MoreInProof
class LockSimulationTests {

	@Test
	void noLockHasTwoHoldersAndEverybodyGetsATurn() {
		int schedules = Schedules.count("shardkeeper.locks.schedules", 200, 500);
		long first = Long.getLong("shardkeeper.locks.seed", 1);
		Map<String, Integer> faults = new TreeMap<>();
		int acquisitions = 0;
		int excused = 0;
		try (VirtualTime.Runners runners = new VirtualTime.Runners()) {
			for (long seed = first; seed < first + schedules; seed++) {
				LockSimulation simulation = new LockSimulation(seed, new VirtualTime(runners, false));
				assertThat(simulation.run()).as("seed " + seed + " with " + simulation.faults()).isNull();
				acquisitions += simulation.acquisitions();
				excused += simulation.excused();
				simulation.faults().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
			}
		}
		System.out.printf(
				"Locks: %d schedules, %d acquisitions, %d beside a holder that had lost it unheard, " + "faults %s%n",
				schedules, acquisitions, excused, faults);
		assertThat(acquisitions).isGreaterThan(20 * schedules);
		assertThat(faults).hasSize(11);
	}

}
