/**
 * Kafka as a source: partitions are shards. Reads with one consumer for all shards of an
 * instance, and sends with one producer. Does not belong here: groups and checkpoints,
 * which Kafka's own groups have nothing to do with, and wiring.
 */
@Internal
@NullMarked
package io.github.shardkeeper.kafka;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
