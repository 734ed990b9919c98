/**
 * Access to Redis for the stores and sources: connections, time limits, Lua scripts, and
 * checks of the server. Keys and commands of a store belong into its own package.
 */
@Internal
@NullMarked
package io.github.shardkeeper.redis;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
