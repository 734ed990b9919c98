/**
 * Reading of partitions, with one consumer for all shards of an instance: positions, what
 * keeps partitions from being read, and positions in Kafka groups.
 */
@Internal
@NullMarked
package io.github.shardkeeper.kafka.reading;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
