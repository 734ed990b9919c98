/**
 * Supervised loops, tasks and their executors, and what reports their failures. What a
 * loop does is its owner's business.
 */
@NullMarked
package io.github.shardkeeper.loop;

import org.jspecify.annotations.NullMarked;
