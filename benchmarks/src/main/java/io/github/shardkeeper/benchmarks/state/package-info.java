/**
 * Cost of a shard with a large state.
 */
package io.github.shardkeeper.benchmarks.state;
