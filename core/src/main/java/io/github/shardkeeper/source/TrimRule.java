package io.github.shardkeeper.source;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Retention of a topic's records. Immutable.
 *
 * @param maxLength the maximum number of records in each shard, {@code null} for no limit
 * @param maxAge the maximum age by the clock of the source, {@code null} for no limit
 * @param beyondCheckpoints whether to remove records that a group has not handled yet
 */
public record TrimRule(@Nullable Long maxLength, @Nullable Duration maxAge, boolean beyondCheckpoints) {

}
