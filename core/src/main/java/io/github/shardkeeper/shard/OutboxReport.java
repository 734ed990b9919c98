package io.github.shardkeeper.shard;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;

/**
 * Snapshot of the outbox of a shard: records that its calls have sent and that are not in
 * their targets yet. Immutable.
 *
 * @param records the number of records
 * @param size their approximate size in bytes; {@code null} unless the instance that
 * reports owns the shard
 * @param since the time since which nothing was appended to the target that has waited
 * longest, by the clock of the owner, and not before it owned the shard; {@code null} if
 * no target waits, and unless the instance that reports owns the shard
 */
@Internal
public record OutboxReport(long records, @Nullable Long size, @Nullable Instant since) {

}
