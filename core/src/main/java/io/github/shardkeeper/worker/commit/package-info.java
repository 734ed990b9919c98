/**
 * What an owner commits, and how: the parts of a commit, and the committers in the
 * background and in transactions of calls. It calls no handler.
 */
@Internal
@NullMarked
package io.github.shardkeeper.worker.commit;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
