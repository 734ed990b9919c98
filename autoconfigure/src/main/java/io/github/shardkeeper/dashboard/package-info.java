/**
 * Dashboard: its page, the stream of changes for those who look at it, and the guard
 * against acts that other sites cause. The page reads and acts through the endpoints; no
 * decisions are made here.
 */
@Internal
@NullMarked
package io.github.shardkeeper.dashboard;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
