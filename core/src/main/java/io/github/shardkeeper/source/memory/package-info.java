/**
 * Streams inside one process, for tests and a first look.
 */
@NullMarked
package io.github.shardkeeper.source.memory;

import org.jspecify.annotations.NullMarked;
