/**
 * A thousand members and a hundred thousand shards: how long a change takes until
 * everybody has his new assignment, and what it costs Redis and the leader.
 */
package io.github.shardkeeper.benchmarks.scale;
