package io.github.shardkeeper.source;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What may be taken from a topic's shards. Immutable.
 *
 * @param maxLength how many records of each shard may stay, {@code null} for any number
 * @param maxAge how old they may become by the clock of the source, {@code null} for any
 * age
 * @param beyondCheckpoints whether records may go that a group has not handled yet
 */
public record TrimRule(@Nullable Long maxLength, @Nullable Duration maxAge, boolean beyondCheckpoints) {

}
