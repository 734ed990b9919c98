/**
 * What the endpoint asks for: {@code ShardOperations} finds the operation that a request
 * names, performs and records it; here are also the operations on the consumption of a
 * shard or of this instance. All others are in {@code steering} and {@code failure}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
