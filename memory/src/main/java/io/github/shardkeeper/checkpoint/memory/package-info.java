/**
 * The data plane's stores in memory, for tests and for applications without Redis.
 * Nothing that only tests need belongs here, except the loss of writes.
 */
@Internal
@NullMarked
package io.github.shardkeeper.checkpoint.memory;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
