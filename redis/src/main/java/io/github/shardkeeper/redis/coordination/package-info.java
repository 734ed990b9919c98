/**
 * The control plane on Redis: each transition of a group is one Lua script, which stands
 * beside the classes as a resource.
 */
@NullMarked
package io.github.shardkeeper.redis.coordination;

import org.jspecify.annotations.NullMarked;
