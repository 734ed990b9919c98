package io.github.shardkeeper.report;

import java.time.Duration;

/**
 * Duration of a part of a move of a shard. Immutable.
 *
 * @param topic the topic
 * @param cause the cause of the move, as in {@link MoveReport}
 * @param phase {@code flushed}, {@code acquired} or {@code firstRecord}, as in
 * {@link MoveReport}
 * @param duration the duration
 */
public record MovePhaseReport(String topic, String cause, String phase, Duration duration) {

}
