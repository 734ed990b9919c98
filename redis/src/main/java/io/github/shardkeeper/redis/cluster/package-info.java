/**
 * Stores of the cluster tools on Redis, in the slot of the group.
 */
@Internal
@NullMarked
package io.github.shardkeeper.redis.cluster;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
