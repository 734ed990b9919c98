package io.github.shardkeeper.report;

import org.jspecify.annotations.Nullable;

/**
 * Distance between the committed offset of a shard and its end. Immutable.
 *
 * @param records the number of records after the offset; {@code null} if the source
 * cannot tell
 * @param millis the age of the first record after the offset, in milliseconds, 0 if there
 * is none; {@code null} if the source cannot tell
 * @param stable the number of those that can be read now, because no open transaction
 * holds them back; {@code null} if the source holds none back
 */
public record LagReport(@Nullable Long records, @Nullable Long millis, @Nullable Long stable) {

}
