/**
 * The data plane's stores in memory, for tests and for applications without Redis.
 */
@NullMarked
package io.github.shardkeeper.checkpoint.memory;

import org.jspecify.annotations.NullMarked;
