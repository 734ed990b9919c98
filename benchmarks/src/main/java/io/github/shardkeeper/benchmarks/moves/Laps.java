package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.benchmarks.Machine;

/**
 * Contenders take turns, alone on the machine and each time on a server of their own:
 * what changes with time must not fall to one of them. Immutable.
 *
 * @param shards how many there are
 * @param number how many laps; in every second one the order is turned round
 */
record Laps(int shards, int number) {

	/**
	 * Runs them.
	 * @param contenders in the order of the table
	 * @param course what happens in a lap
	 * @param record keeps what was seen up to then, for a run that fails later
	 * @return what was seen, in the same order
	 */
	List<Findings> run(List<Contender> contenders, Course course, Record record) throws Exception {
		List<Findings> all = contenders.stream().map(Findings::new).toList();
		for (int lap = 0; lap < this.number; lap++) {
			for (Findings findings : order(lap, all)) {
				run(lap, findings, course);
				record.keep(all);
			}
		}
		return all;
	}

	static <T> List<T> order(int lap, List<T> all) {
		List<T> order = new ArrayList<>(all);
		if (lap % 2 == 1) {
			Collections.reverse(order);
		}
		return order;
	}

	private void run(int lap, Findings findings, Course course) throws Exception {
		long begun = System.nanoTime();
		try (Group group = new Group(findings.contender(), this.shards)) {
			System.out.printf("%nLap %d, %s: %s%n", lap + 1, findings.contender().name(),
					Machine.describeWith(group.version()));
			course.run(lap, group, findings);
			findings.finish(group.finish(), group.failedCommits());
		}
		System.out.printf(Locale.ROOT, "took %.0f s%n", (System.nanoTime() - begun) / 1e9);
	}

	/** The part of a number that falls to a lap; the first laps have the larger ones. */
	static int part(int whole, int lap, int laps) {
		return whole / laps + ((lap < whole % laps) ? 1 : 0);
	}

	/** What happens to a group, and what is to be seen of it. */
	@FunctionalInterface
	interface Course {

		void run(int lap, Group group, Findings findings) throws Exception;

	}

	/** What is left of a run. */
	@FunctionalInterface
	interface Record {

		void keep(List<Findings> all) throws IOException;

	}

}
