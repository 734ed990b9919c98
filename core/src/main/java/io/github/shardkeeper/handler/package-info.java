/**
 * Handlers: detection among the application's beans, signatures, and invocation. No
 * threads, no shards in progress, and no Spring Messaging, which is behind
 * {@link io.github.shardkeeper.handler.MessageArguments}.
 */
@NullMarked
package io.github.shardkeeper.handler;

import org.jspecify.annotations.NullMarked;
