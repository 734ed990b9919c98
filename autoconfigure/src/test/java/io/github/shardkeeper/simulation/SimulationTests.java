package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many courses of whole groups with faults, each decided by its seed. One that failed is
 * replayed with {@code -Dshardkeeper.simulation.seed=…}; how many run is said by
 * {@code -Dshardkeeper.simulation.schedules=…}.
 */
class SimulationTests {

	@Test
	@SuppressWarnings("try")
	void nothingIsLostDoubledOrConsumedTwiceWhateverHappens() {
		Long single = Long.getLong("shardkeeper.simulation.seed");
		long first = Long.getLong("shardkeeper.simulation.first", 1);
		int schedules = Integer.getInteger("shardkeeper.simulation.schedules", 20_000);
		Map<String, Integer> faults = new TreeMap<>();
		long calls = 0;
		long events = 0;
		long moves = 0;
		long excused = 0;
		long virtual = 0;
		Duration longest = Duration.ZERO;
		long begun = System.nanoTime();
		try (Simulation.Host host = new Simulation.Host();
				SilentLogs logs = SilentLogs.begin((single != null) ? Level.DEBUG : Level.OFF)) {
			for (long seed = (single != null) ? single : first; seed < ((single != null) ? single + 1
					: first + schedules); seed++) {
				Simulation.Outcome outcome = host.run(seed, Tampering.NONE, single != null);
				if (outcome.failure() != null) {
					throw new AssertionError("Seed " + seed + " at " + outcome.nanos() / 1_000_000 + " ms, "
							+ outcome.faults() + ": " + outcome.failure().getMessage(), outcome.failure());
				}
				outcome.faults().forEach((kind, count) -> faults.merge(kind, count, Integer::sum));
				calls += outcome.calls();
				events += outcome.events();
				moves += outcome.moves();
				excused += outcome.excused();
				virtual += outcome.nanos();
				longest = (outcome.rest().compareTo(longest) > 0) ? outcome.rest() : longest;
			}
		}
		double seconds = (System.nanoTime() - begun) / 1e9;
		System.out.printf(
				"Simulation: %d schedules from seed %d in %.1f s (%.0f per s; %.0f h of the groups' time), %d events, "
						+ "%d handler calls, %d changes of owner, %d excused overlaps, longest rest %d ms, faults %s%n",
				schedules, first, seconds, schedules / seconds, virtual / 3.6e12, events, calls, moves, excused,
				longest.toMillis(), faults);
		assertThat(calls).isPositive();
	}

}
