/**
 * Stores that are two stores: one for some topics, one for all others.
 */
@Internal
@NullMarked
package io.github.shardkeeper.checkpoint.routing;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
