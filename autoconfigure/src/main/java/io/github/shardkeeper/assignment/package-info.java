/**
 * Pure: members, shards and today's owners in, tomorrow's owners out.
 */
@NullMarked
package io.github.shardkeeper.assignment;

import org.jspecify.annotations.NullMarked;
