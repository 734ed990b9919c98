/**
 * How the Redis stores and sources reach Redis: connections of their own, made by the
 * client that Spring Boot has configured, and Lua scripts.
 */
@NullMarked
package io.github.shardkeeper.redis;

import org.jspecify.annotations.NullMarked;
