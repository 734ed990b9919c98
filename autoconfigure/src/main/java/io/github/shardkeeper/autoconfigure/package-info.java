/**
 * Wiring: the auto-configurations, which put together what the packages below define.
 * Only these packages create beans; they contain no behavior of their own.
 */
@NullMarked
package io.github.shardkeeper.autoconfigure;

import org.jspecify.annotations.NullMarked;
