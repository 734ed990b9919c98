/**
 * SPI of sources: topics, their shards, reading, appending and trimming; and the
 * conversion of payloads. Does not belong here: groups, owners, committed offsets, or a
 * client of a store.
 */
@NullMarked
package io.github.shardkeeper.source;

import org.jspecify.annotations.NullMarked;
