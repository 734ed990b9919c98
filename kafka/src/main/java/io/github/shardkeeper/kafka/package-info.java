/**
 * Kafka as a source: partitions are shards. {@code KafkaShardSource} is the port, {@code
 * KafkaAppender} sends with one producer. Does not belong here: groups and checkpoints,
 * of which Kafka's own groups are at most the beginning or a copy, and wiring.
 */
@Internal
@NullMarked
package io.github.shardkeeper.kafka;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
