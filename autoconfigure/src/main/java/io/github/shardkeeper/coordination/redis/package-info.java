/**
 * The protocol's transitions as Lua scripts on Redis; one file per script in the
 * resources beside this package.
 */
@NullMarked
package io.github.shardkeeper.coordination.redis;

import org.jspecify.annotations.NullMarked;
