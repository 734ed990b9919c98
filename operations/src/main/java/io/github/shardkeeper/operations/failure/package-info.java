/**
 * Operations on what could not be handled: dead letters, and keys that wait in a retry
 * queue.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations.failure;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
