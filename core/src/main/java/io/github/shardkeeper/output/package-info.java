/**
 * Records that handlers send as parts of their calls: how they are collected, numbered,
 * put into the outbox of the shard and forwarded to their targets. When a commit is sent
 * is decided by the worker, and how records are stored by stores and sources.
 */
@Internal
@NullMarked
package io.github.shardkeeper.output;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
