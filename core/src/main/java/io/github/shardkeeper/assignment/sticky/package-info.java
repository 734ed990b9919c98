/**
 * Sticky strategy: even loads with the fewest moves, and the fallback for other
 * strategies. Pure. Belongs here: what computes or improves a sticky assignment.
 */
@Internal
@NullMarked
package io.github.shardkeeper.assignment.sticky;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
