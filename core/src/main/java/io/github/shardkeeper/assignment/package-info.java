/**
 * SPI of assignment strategies: members, shards and current owners in, new owners out.
 * Pure. Belongs here: what an application implements or sees, but no strategy.
 */
@NullMarked
package io.github.shardkeeper.assignment;

import org.jspecify.annotations.NullMarked;
