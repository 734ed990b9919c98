/**
 * Stores of control plane and data plane: Redis, this process, and the application's
 * database.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.store;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
