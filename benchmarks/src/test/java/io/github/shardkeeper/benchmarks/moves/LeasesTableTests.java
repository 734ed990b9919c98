package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of profiles tells crashes and pauses apart, and a lease that ended is seen.
 */
class LeasesTableTests {

	private final ContenderResults results = new ContenderResults(Contender.profiles(10).get(1));

	private final LeasesTable table = new LeasesTable(List.of(this.results), Map.of("fast-failover", 4.2));

	@Test
	void crashIsJudgedByTheLeaseOfItsProfile() {
		this.results.add(Event.KILL, window(1, 1790));
		this.results.add(Event.KILL, LeaseCounts.NONE);

		assertThat(this.table.lines())
			.contains("| fast-failover, kill -9: ms, longest, beside the lease + 300 ms | 1,790 | 1,800 | kept |");

		this.results.add(Event.KILL, window(1, 1810));
		this.results.add(Event.KILL, LeaseCounts.NONE);

		assertThat(this.table.lines()).contains(
				"| fast-failover, kill -9: ms, longest, beside the lease + 300 ms | 1,810 | 1,800 | **missed** |");
	}

	@Test
	void oneLeaseThatEndsAmongManyMissesTheGoal() {
		this.results.add(Event.PROCESS_STALL, window(0, 0));
		this.results.add(Event.PROCESS_STALL, LeaseCounts.NONE);
		this.results.add(Event.PROCESS_STALL, window(0, 0));
		this.results.add(Event.PROCESS_STALL, new LeaseCounts(1, 5));
		this.results.add(Event.REDIS_STALL, window(0, 0));
		this.results.add(Event.REDIS_STALL, LeaseCounts.NONE);

		assertThat(this.table.lines()).contains(
				"| fast-failover | a process is stopped for 1 s | 2 | 1 | 5 | 0 | – | 1,040 / 1,040 / 1,040 | 0 |",
				"| fast-failover, a process is stopped for 1 s: leases ended | 1 | 0 | **missed** |",
				"| fast-failover, a process is stopped for 1 s: shards that moved | 0 | 0 | kept |",
				"| fast-failover, Redis is stopped for 1 s: leases ended | 0 | 0 | kept |");
	}

	@Test
	void everyRoundIsInTheFile() {
		this.results.add(Event.KILL, window(1, 1400));
		this.results.add(Event.KILL, new LeaseCounts(0, 2));
		this.results.add(Event.KILL, window(0, 0));
		this.results.add(Event.KILL, new LeaseCounts(1, 0));

		assertThat(this.table.raw()).containsExactly(
				"profile,event,round,leases_ended,calls_interrupted,shards_moved,longest_gap_ms,longest_ms_of_others,commands_per_second",
				"fast-failover,idle,0,,,,,,4.20", "fast-failover,kill,0,0,2,1,1400.000,,",
				"fast-failover,kill,1,1,0,0,,1040.000,");
	}

	private static Window window(int moves, double gapMillis) {
		return new Window(0, 1, List.of(new Window.Shard(moves, gapMillis, 1040, gapMillis, 0, false)));
	}

}
