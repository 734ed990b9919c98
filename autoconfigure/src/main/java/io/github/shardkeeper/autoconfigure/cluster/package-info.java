/**
 * Cluster tools, and what is defined without them.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.cluster;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
