/**
 * The control plane's store in memory, for tests and for applications without Redis. Each
 * class makes the transitions of a Lua script; nothing else belongs here.
 */
@Internal
@NullMarked
package io.github.shardkeeper.coordination.memory;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
