package io.github.shardkeeper.schedule;

import java.time.Duration;

/**
 * When the shards of a topic run, and what happens to runs that a crash interrupted or
 * that nobody could start in time. Immutable.
 *
 * @param trigger the times
 * @param onInterruption the treatment of an interrupted run
 * @param missedRuns the treatment of missed runs of a cron expression
 * @param missedAfter the time after which a run that was not started counts as missed
 */
public record RunRules(RunTrigger trigger, OnInterruption onInterruption, MissedRuns missedRuns, Duration missedAfter) {

	/** Default time after which a run counts as missed: longer than a crash takes. */
	public static final Duration MISSED_AFTER = Duration.ofMinutes(1);

	/** Returns rules with an interval that repeat interrupted runs. */
	public static RunRules every(Duration interval) {
		return new RunRules(new RunTrigger.Every(interval), OnInterruption.REPEAT, MissedRuns.ONCE, MISSED_AFTER);
	}

	/**
	 * Returns whether the store must know that a run has started before the handler is
	 * called.
	 */
	public boolean marksFirst() {
		return this.onInterruption == OnInterruption.SKIP;
	}

	/** Returns whether the store learns that a run has started. */
	public boolean marks() {
		return marksFirst() || this.trigger instanceof RunTrigger.Cron;
	}

	/**
	 * Treatment of a run that was started and not finished, because its instance crashed,
	 * lost its lease or had to hand the shard over.
	 */
	public enum OnInterruption {

		/** Repeats the run: it happens at least once. */
		REPEAT,

		/**
		 * Continues with the next run: each one is started at most once, except after it
		 * has failed. Costs a commit before each run.
		 */
		SKIP

	}

	/** Treatment of runs whose time has passed while nobody could start them. */
	public enum MissedRuns {

		/** Leaves them out. */
		SKIP,

		/** Makes up for all of them with one run. */
		ONCE,

		/** Makes up for each of the last 100, one after the other. */
		ALL

	}

}
