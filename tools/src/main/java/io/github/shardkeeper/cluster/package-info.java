/**
 * Tools for work around shards, on the sessions of the same group: the view of its
 * members, locks, double barriers, signals and parameters. Each is a bean; an application
 * that injects none has no key, thread or connection for them.
 */
@NullMarked
package io.github.shardkeeper.cluster;

import org.jspecify.annotations.NullMarked;
