package io.github.shardkeeper.report;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Pause of a shard by an operator. Immutable.
 *
 * @param by the person who asked for it; {@code null} if unknown
 * @param since the time at which it was asked for, by the store's clock
 * @param reason the reason that was given; {@code null} for none
 */
public record PauseReport(@Nullable String by, Instant since, @Nullable String reason) {

}
