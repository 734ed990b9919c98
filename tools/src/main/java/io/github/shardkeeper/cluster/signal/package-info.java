/**
 * Signals: the port to their store, the delivery to handlers, and the wait of senders.
 */
@NullMarked
package io.github.shardkeeper.cluster.signal;

import org.jspecify.annotations.NullMarked;
