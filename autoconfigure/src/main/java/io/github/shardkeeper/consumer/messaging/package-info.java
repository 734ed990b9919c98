/**
 * Parameters of handlers that Spring Messaging fills: from its annotations and types, by
 * its own resolvers.
 */
@NullMarked
package io.github.shardkeeper.consumer.messaging;

import org.jspecify.annotations.NullMarked;
