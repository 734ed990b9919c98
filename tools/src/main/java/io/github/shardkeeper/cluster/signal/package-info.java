/**
 * Signals: the port to their store, the delivery to handlers, and the wait of senders.
 */
@Internal
@NullMarked
package io.github.shardkeeper.cluster.signal;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
