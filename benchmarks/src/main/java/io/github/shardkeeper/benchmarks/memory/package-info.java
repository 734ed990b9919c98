/**
 * Costs of shards: memory, threads, connections and commands.
 */
package io.github.shardkeeper.benchmarks.memory;
