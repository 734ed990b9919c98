/**
 * Consumption on this instance: its lifecycle, its workers and their threads. Handlers
 * are in {@code handler}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.consumer;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
