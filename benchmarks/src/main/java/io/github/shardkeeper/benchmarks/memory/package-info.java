/**
 * What shards cost: memory, threads, connections and commands.
 */
package io.github.shardkeeper.benchmarks.memory;
