/**
 * Records of Kafka as text and payloads of shards, and back.
 */
@Internal
@NullMarked
package io.github.shardkeeper.kafka.record;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
