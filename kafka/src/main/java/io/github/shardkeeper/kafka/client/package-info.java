/**
 * What reading and sending share of Kafka's clients: settings, topics and partitions,
 * offsets, metrics, and explanations of failures.
 */
@Internal
@NullMarked
package io.github.shardkeeper.kafka.client;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
