/**
 * Parameters of handlers that Spring Messaging's own resolvers fill, by its annotations
 * and types. The only package that uses Spring Messaging.
 */
@Internal
@NullMarked
package io.github.shardkeeper.handler.messaging;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
