/**
 * What becomes of records that cannot be handled, and what is reported of a shard that is
 * held up.
 */
@NullMarked
package io.github.shardkeeper.worker.failure;

import org.jspecify.annotations.NullMarked;
