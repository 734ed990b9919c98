/**
 * How an owner commits its progress: the committers in the background and in transactions
 * of calls, and what they do about lost commits. It calls no handler.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.commit;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
