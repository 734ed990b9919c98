/**
 * Values of handlers in the state: their JSON, its versions, and migrations. Keys and
 * commits belong in {@code state}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.state.value;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
