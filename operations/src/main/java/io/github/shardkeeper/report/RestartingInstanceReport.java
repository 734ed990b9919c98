package io.github.shardkeeper.report;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of an instance that has left for a restart. Immutable.
 *
 * @param instance the id of the instance
 * @param version the version of the application that it ran; {@code null} if unknown
 * @param since the time at which it left, by the store's clock
 * @param until the time until which its shards are kept, by the store's clock: then
 * others get them
 * @param shards the number of shards that are kept for it; nobody consumes them
 */
public record RestartingInstanceReport(String instance, @Nullable String version, Instant since, Instant until,
		int shards) {

}
