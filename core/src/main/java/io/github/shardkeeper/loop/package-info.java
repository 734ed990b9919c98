/**
 * Supervised loops, tasks, their executors and lifecycles, and the guards that keep
 * failures of logs and meters from ending them. What a loop does belongs to the room of
 * its owner.
 */
@Internal
@NullMarked
package io.github.shardkeeper.loop;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
