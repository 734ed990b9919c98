/**
 * Strategies that move shards from loaded members to others, a few at a time: by measured
 * load, or by weight. Pure. Does not belong here: how loads are measured and reported.
 */
@NullMarked
package io.github.shardkeeper.assignment.load;

import org.jspecify.annotations.NullMarked;
