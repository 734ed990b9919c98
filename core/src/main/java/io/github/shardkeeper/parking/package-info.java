/**
 * Which keys of a shard wait because a record of theirs has failed, and which of their
 * records is next. Pure: no store, no clock, no calls of handlers.
 */
@Internal
@NullMarked
package io.github.shardkeeper.parking;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
