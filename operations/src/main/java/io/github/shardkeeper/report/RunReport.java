package io.github.shardkeeper.report;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of the committed position of a shard in its schedule. Immutable.
 *
 * @param nextRun the time of the next run; while a run is under way, the time of that one
 * @param runningSince the start of the run that is under way, or that was interrupted and
 * that nobody has continued yet; {@code null} if none is. Handlers with an interval show
 * it only with {@code on-interruption: skip}
 * @param failing whether that run has failed and is being repeated
 * @param lastRun the start of the last finished run, {@code null} before the first one
 * @param lastRunEnded the end of the last finished run; {@code null} before the first
 * one, and if it was interrupted and not repeated
 */
public record RunReport(Instant nextRun, @Nullable Instant runningSince, boolean failing, @Nullable Instant lastRun,
		@Nullable Instant lastRunEnded) {

}
