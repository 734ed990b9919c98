/** Source in memory of one process, for tests and first steps. Nothing is persisted. */
@Internal
@NullMarked
package io.github.shardkeeper.source.memory;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
