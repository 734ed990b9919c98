/**
 * Groups of {@code shardkeeper.groups}, each wired in a context of its own like the only
 * group of an application. How one group is wired is not here.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.group;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
