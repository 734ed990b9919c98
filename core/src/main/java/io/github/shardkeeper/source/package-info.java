/**
 * SPI of sources: topics, their shards, reading, appending and trimming; and the
 * conversion of payloads. Does not belong here: groups, owners, offsets, clients.
 */
@NullMarked
package io.github.shardkeeper.source;

import org.jspecify.annotations.NullMarked;
