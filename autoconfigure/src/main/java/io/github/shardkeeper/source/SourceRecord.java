package io.github.shardkeeper.source;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * A record as its source has it. Immutable by convention: the payload's bytes are not
 * copied and must not be changed.
 *
 * @param offset its position in the shard
 * @param key the key it was sent with, or {@code null}
 * @param payload the payload's bytes
 * @param timestamp when it was appended, by the clock of the source
 */
public record SourceRecord(Offset offset, @Nullable String key, byte[] payload, Instant timestamp) {

}
