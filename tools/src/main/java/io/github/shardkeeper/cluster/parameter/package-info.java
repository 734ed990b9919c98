/**
 * Parameters: the port to their store, their types, and the values of this instance.
 */
@Internal
@NullMarked
package io.github.shardkeeper.cluster.parameter;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
