/**
 * What operators want of a group: the values, and the port of their store. Who follows
 * them, and how, is decided in other rooms.
 */
@Internal
@NullMarked
package io.github.shardkeeper.directive;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
