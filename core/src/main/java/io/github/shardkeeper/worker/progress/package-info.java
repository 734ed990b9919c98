/**
 * What an owner has done since the checkpoint of its shard: the parts of the next commit,
 * and when it is due. It sends no commit.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.progress;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
