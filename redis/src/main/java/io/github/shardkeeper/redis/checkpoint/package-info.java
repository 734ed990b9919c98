/**
 * The data plane on Redis: checkpoints, states, retries, dead letters, and which groups
 * consume a topic. The {@code .lua} files stand beside the classes as resources.
 */
@NullMarked
package io.github.shardkeeper.redis.checkpoint;

import org.jspecify.annotations.NullMarked;
