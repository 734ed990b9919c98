/**
 * What a member does while it leads: carries out what {@code protocol} decides, calls the
 * assignment strategy, and publishes the problems and reasons that it has found.
 */
@Internal
@NullMarked
package io.github.shardkeeper.coordination.leader;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
