/**
 * What becomes of records that cannot be handled, and what is reported of a shard that is
 * held up.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.failure;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
