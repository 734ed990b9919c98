package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.benchmarks.Machine;

/**
 * Measures contenders in turn, each alone on the machine and on a server of its own, so
 * that changes over time affect all of them. Immutable.
 *
 * @param shards the number of shards
 * @param number the number of turns; every second one has the reverse order
 */
record Rotation(int shards, int number) {

	/**
	 * Runs them.
	 * @param contenders the contenders, in the order of the table
	 * @param scenario the events of a turn
	 * @param sink stores the results so far, for a run that fails later
	 * @return the results, in the same order
	 */
	List<ContenderResults> run(List<Contender> contenders, Scenario scenario, ResultSink sink) throws Exception {
		List<ContenderResults> all = contenders.stream().map(ContenderResults::new).toList();
		for (int turn = 0; turn < this.number; turn++) {
			for (ContenderResults results : order(turn, all)) {
				run(turn, results, scenario);
				sink.store(all);
			}
		}
		return all;
	}

	static <T> List<T> order(int turn, List<T> all) {
		List<T> order = new ArrayList<>(all);
		if (turn % 2 == 1) {
			Collections.reverse(order);
		}
		return order;
	}

	private void run(int turn, ContenderResults results, Scenario scenario) throws Exception {
		long begun = System.nanoTime();
		try (Group group = new Group(results.contender(), this.shards)) {
			System.out.printf("%nTurn %d, %s: %s%n", turn + 1, results.contender().name(),
					Machine.describeWith(group.version()));
			scenario.run(turn, group, results);
			results.finish(group.finish(), group.failedCommits());
		}
		System.out.printf(Locale.ROOT, "took %.0f s%n", (System.nanoTime() - begun) / 1e9);
	}

	/** Returns the part of a number for a turn; the first turns have the larger parts. */
	static int part(int whole, int turn, int turns) {
		return whole / turns + ((turn < whole % turns) ? 1 : 0);
	}

	/** Events of a group, with their results. */
	@FunctionalInterface
	interface Scenario {

		void run(int turn, Group group, ContenderResults results) throws Exception;

	}

	/** Storage of results. */
	@FunctionalInterface
	interface ResultSink {

		void store(List<ContenderResults> all) throws IOException;

	}

}
