/** Source in memory of one process, for tests and first steps. Nothing is persisted. */
@NullMarked
package io.github.shardkeeper.source.memory;

import org.jspecify.annotations.NullMarked;
