/**
 * The drivers of the protocol (event loop, heartbeat) and the ports to what they need
 * (stores, consumption).
 */
@NullMarked
package io.github.shardkeeper.coordination;

import org.jspecify.annotations.NullMarked;
