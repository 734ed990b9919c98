package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * Goals for applications as users have them, as Markdown. Immutable.
 *
 * @param all the results of all contenders
 */
record UsersGoals(List<ContenderResults> all) {

	private static final double WARM_MEDIAN_MILLIS = 25;

	private static final double WARM_LONG_MILLIS = 35;

	private static final double COLD_TIMES_WARM = 1.3;

	private static final double UNMOVED_TIMES_BYSTANDER = 1.2;

	/** What the rehearsal has to take off a join, so that it is worth its start. */
	private static final double REHEARSAL_MILLIS = 10;

	private static final double LONG = 0.99;

	List<String> lines() {
		GoalTable goals = new GoalTable("ms seen", "ms at most, or at least");
		this.all.forEach((results) -> add(goals, results));
		this.all.stream()
			.filter((results) -> results.contender().name().equals(Contender.USERS_WITHOUT_REHEARSAL))
			.forEach((without) -> this.all.stream()
				.filter((results) -> results.contender().name().equals(Contender.USERS_APPLICATION))
				.forEach((with) -> goals.atLeast("join: p50 that the rehearsal takes off",
						without.gaps(Event.JOIN).median() - with.gaps(Event.JOIN).median(), REHEARSAL_MILLIS)));
		return goals.lines();
	}

	private static void add(GoalTable goals, ContenderResults results) {
		String name = results.contender().name() + ", ";
		Samples warm = results.gaps(Event.WARM_JOIN);
		goals.atMost(name + "join of a warm process: p50", warm.median(), WARM_MEDIAN_MILLIS);
		goals.atMost(name + "join of a warm process: p99", warm.quantile(LONG), WARM_LONG_MILLIS);
		goals.atMost(name + times("join: p50, beside %.1f of a warm process'", COLD_TIMES_WARM),
				results.gaps(Event.JOIN).median(), warm.median() * COLD_TIMES_WARM);
		goals.atMost(
				name + times("join: other shards' p99, beside %.1f of 'a process starts'", UNMOVED_TIMES_BYSTANDER),
				results.standstills(Event.JOIN).quantile(LONG),
				results.standstills(Event.BYSTANDER).quantile(LONG) * UNMOVED_TIMES_BYSTANDER);
	}

	private static String times(String what, double factor) {
		return String.format(Locale.ROOT, what, factor);
	}

}
