/**
 * Operations that leader and members follow as directives: move, pin, drain, pause and
 * their opposites.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations.steering;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
