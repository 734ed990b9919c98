package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.Exactness.Kind;

/**
 * What each profile of sessions costs and brings, as Markdown. Immutable.
 *
 * @param all the results of all profiles
 * @param idleCommands the commands per second of an idle instance, by profile
 */
record LeasesTable(List<ContenderResults> all, Map<String, Double> idleCommands) {

	private static final List<Event> EVENTS = List.of(Event.QUIET, Event.KILL, Event.PROCESS_STALL, Event.REDIS_STALL);

	private static final List<Event> STALLS = List.of(Event.PROCESS_STALL, Event.REDIS_STALL);

	/** Allowance on top of the lease, as in the benchmark of handovers. */
	private static final double CRASH_MILLIS = 300;

	List<String> lines() {
		List<String> lines = new ArrayList<>(List.of("",
				"| profile | event | how often | leases ended | calls interrupted | shards moved "
						+ "| moved shards: ms from the old owner's last record to the new one's first, p50 / p99 / max "
						+ "| other shards: longest ms without a record, p50 / p99 / max | records handled again |",
				"|---|---|---:|---:|---:|---:|---:|---:|---:|"));
		for (ContenderResults results : this.all) {
			EVENTS.stream().filter(results::has).forEach((event) -> lines.add(line(results, event)));
		}
		lines.add("");
		lines
			.add("| profile | commands per second of an idle instance | lost | out of order | after a later owner's |");
		lines.add("|---|---:|---:|---:|---:|");
		this.all.forEach((results) -> lines
			.add(String.format(Locale.ROOT, "| %s | %.1f | %d | %d | %d |", results.contender().name(), idle(results),
					results.lost(), results.count(Kind.OUT_OF_ORDER), results.count(Kind.TWO_OWNERS))));
		lines.addAll(goals());
		return lines;
	}

	private static String line(ContenderResults results, Event event) {
		LeaseCounts leases = leases(results, event);
		Samples gaps = results.gaps(event);
		return String.format(Locale.ROOT, "| %s | %s | %d | %d | %d | %d | %s | %s | %d |", results.contender().name(),
				event.title(), results.windows(event).size(), leases.suspensions(), leases.interruptedCalls(),
				gaps.values().size(), HandoverTable.figures(gaps), HandoverTable.figures(results.standstills(event)),
				results.count(Kind.TWICE, event) + results.count(Kind.AGAIN, event));
	}

	private static LeaseCounts leases(ContenderResults results, Event event) {
		return results.leases(event).stream().reduce(LeaseCounts.NONE, LeaseCounts::plus);
	}

	private double idle(ContenderResults results) {
		return this.idleCommands.getOrDefault(results.contender().name(), Double.NaN);
	}

	/** A crash is over with the lease, and a pause of a second ends no lease. */
	private List<String> goals() {
		GoalTable goals = new GoalTable("seen", "at most");
		for (ContenderResults results : this.all) {
			String name = results.contender().name();
			if (results.has(Event.KILL)) {
				goals.atMost(name + ", kill -9: ms, longest, beside the lease + 300 ms",
						results.gaps(Event.KILL).highest(), results.contender().leaseMillis() + CRASH_MILLIS);
			}
			for (Event stall : STALLS) {
				if (results.has(stall)) {
					goals.atMost(name + ", " + stall.title() + ": leases ended", leases(results, stall).suspensions(),
							0);
					goals.atMost(name + ", " + stall.title() + ": shards that moved",
							results.gaps(stall).values().size(), 0);
				}
			}
		}
		return goals.lines();
	}

	/** Returns the figures of every round of every event, and of the idle instances. */
	List<String> raw() {
		List<String> lines = new ArrayList<>(List.of("profile,event,round,leases_ended,calls_interrupted,shards_moved,"
				+ "longest_gap_ms,longest_ms_of_others,commands_per_second"));
		this.idleCommands.forEach(
				(profile, commands) -> lines.add(String.format(Locale.ROOT, "%s,idle,0,,,,,,%.2f", profile, commands)));
		for (ContenderResults results : this.all) {
			for (Event event : EVENTS) {
				List<Window> windows = results.windows(event);
				for (int round = 0; round < windows.size(); round++) {
					lines.add(raw(results, event, round, windows.get(round)));
				}
			}
		}
		return lines;
	}

	private static String raw(ContenderResults results, Event event, int round, Window window) {
		LeaseCounts leases = results.leases(event).get(round);
		Samples gaps = new Samples();
		Samples others = new Samples();
		window.shards().forEach((shard) -> {
			if (shard.moves() > 0) {
				gaps.add(shard.gapMillis());
			}
			else {
				others.add(shard.longestMillis());
			}
		});
		return String.format(Locale.ROOT, "%s,%s,%d,%d,%d,%d,%s,%s,", results.contender().name(), event.option(), round,
				leases.suspensions(), leases.interruptedCalls(), gaps.values().size(), longest(gaps), longest(others));
	}

	private static String longest(Samples samples) {
		return samples.values().isEmpty() ? "" : String.format(Locale.ROOT, "%.3f", samples.highest());
	}

}
