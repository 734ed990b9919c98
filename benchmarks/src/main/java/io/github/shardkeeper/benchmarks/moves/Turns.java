package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.moves.group.Group;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

/**
 * Runs the groups of several protocols in turns, each alone on the machine and on a
 * server of its own. Has no state.
 */
final class Turns {

	private Turns() {
	}

	/**
	 * Runs them.
	 * @param protocols the protocols, in the order of the table
	 * @param shards the number of shards
	 * @param number the number of turns of each
	 * @param scenario the events of a turn
	 * @param sink stores the results so far, for a run that fails later
	 * @return the results, in the same order
	 */
	static List<GroupResults> run(List<GroupProtocol> protocols, int shards, int number, Scenario scenario,
			ResultSink sink) throws Exception {
		Machine.print();
		List<GroupResults> all = new ArrayList<>();
		protocols.forEach((protocol) -> all.add(new GroupResults(protocol)));
		Rounds.alternate(all, 0, number - 1, (results, turn) -> {
			long begun = System.nanoTime();
			System.out.printf(Locale.ROOT, "Turn %d, %s: load average %.2f%n", turn + 1, results.protocol().text(),
					Machine.load());
			try (Group group = new Group(results.protocol(), shards)) {
				scenario.run(turn, group, results);
				results.finish(group.finish(), group.failedCommits(), group.endedLeases());
			}
			System.out.printf(Locale.ROOT, "took %.0f s%n", (System.nanoTime() - begun) / 1e9);
			sink.store(all);
		});
		return all;
	}

	/** Returns the part of a number for a turn; the first turns have the larger parts. */
	static int part(int whole, int turn, int turns) {
		return whole / turns + ((turn < whole % turns) ? 1 : 0);
	}

	/** Events of a group, with their results. */
	@FunctionalInterface
	interface Scenario {

		void run(int turn, Group group, GroupResults results) throws Exception;

	}

	/** Storage of results. */
	@FunctionalInterface
	interface ResultSink {

		void store(List<GroupResults> all) throws IOException;

	}

}
