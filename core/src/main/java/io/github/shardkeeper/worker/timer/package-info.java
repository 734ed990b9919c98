/**
 * The timers of a shard, as its owner knows them: which one is due next, and what the
 * next commit changes. All of them are in the store; it only answers when it is asked.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.timer;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
