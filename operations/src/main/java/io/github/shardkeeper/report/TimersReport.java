package io.github.shardkeeper.report;

import java.time.Instant;
import java.util.List;

/**
 * Timers of a shard that have not fired. Immutable.
 *
 * @param waiting the number of its timers
 * @param next those that are due next, in the order of their times
 */
public record TimersReport(long waiting, List<Next> next) {

	public TimersReport {
		next = List.copyOf(next);
	}

	/**
	 * One of the next timers.
	 *
	 * @param key the key for which it was set
	 * @param name its name
	 * @param dueAt when it is due, by the clock of the owner that has set it
	 */
	public record Next(String key, String name, Instant dueAt) {

	}

}
