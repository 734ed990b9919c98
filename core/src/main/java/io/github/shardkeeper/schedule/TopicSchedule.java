package io.github.shardkeeper.schedule;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;

/**
 * Schedule of a topic as it is configured. What is set here replaces what the handler's
 * annotation says. Immutable.
 *
 * @param cron the cron expression, {@code null} if it is not configured, as below
 * @param zone the time zone of the cron expression
 * @param interval the pause between two runs
 * @param onInterruption the treatment of an interrupted run
 * @param missedRuns the treatment of missed runs
 * @param missedAfter the time after which a run counts as missed
 */
public record TopicSchedule(@Nullable String cron, @Nullable String zone, @Nullable Duration interval,
		@Nullable OnInterruption onInterruption, @Nullable MissedRuns missedRuns, @Nullable Duration missedAfter) {

	/** Configures nothing. */
	public static final TopicSchedule NONE = new TopicSchedule(null, null, null, null, null, null);

}
