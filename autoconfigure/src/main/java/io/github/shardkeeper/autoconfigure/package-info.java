/**
 * The only place that wires.
 */
@NullMarked
package io.github.shardkeeper.autoconfigure;

import org.jspecify.annotations.NullMarked;
