/**
 * Strategies that move a few shards at a time from loaded members to others: by measured
 * load, or by weight. Pure. Does not belong here: how loads are measured and reported.
 */
@Internal
@NullMarked
package io.github.shardkeeper.assignment.load;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
