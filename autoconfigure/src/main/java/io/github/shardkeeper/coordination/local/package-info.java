/**
 * The data plane of one instance in files, for topics of which every instance consumes
 * every shard.
 */
@NullMarked
package io.github.shardkeeper.coordination.local;

import org.jspecify.annotations.NullMarked;
