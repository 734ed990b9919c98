/**
 * Calls of a handler: which delivery may be called next, on which thread, and with what
 * result. What the result means is decided above.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.call;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
