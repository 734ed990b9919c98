/**
 * Work on the stores in the background: trimming of topics, expiry of dead letters, and
 * copies of offsets for it. Nobody asks for it one by one.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations.housekeeping;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
