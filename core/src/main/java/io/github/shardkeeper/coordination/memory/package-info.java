/**
 * The same transitions inside one process, for tests and a first look.
 */
@NullMarked
package io.github.shardkeeper.coordination.memory;

import org.jspecify.annotations.NullMarked;
