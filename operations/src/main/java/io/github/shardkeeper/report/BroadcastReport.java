package io.github.shardkeeper.report;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a broadcast topic on the reporting instance, which consumes all its shards
 * for itself; other instances may be further, or have problems of their own. Immutable.
 *
 * @param topic the name of the topic
 * @param shards the number of its shards that the instance consumes
 * @param problems why shards make no progress, by the shard's id, ordered
 * @param deadLetters the number of the instance's dead letters of the topic; {@code null}
 * unless they were to be counted, and if they cannot be read
 */
public record BroadcastReport(String topic, int shards, Map<String, String> problems, @Nullable Long deadLetters) {

}
