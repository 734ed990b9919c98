/**
 * The session of this instance as the cluster tools see it: subscription, view, and
 * catching up with the store.
 */
@Internal
@NullMarked
package io.github.shardkeeper.cluster.session;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
