/**
 * Runs the handlers: readers, workers, invocation. The package that owns worker threads.
 */
@NullMarked
package io.github.shardkeeper.consumer;

import org.jspecify.annotations.NullMarked;
