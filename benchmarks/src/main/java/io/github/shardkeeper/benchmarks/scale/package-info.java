/**
 * A thousand members and a hundred thousand shards: the time of a change until every
 * member has its new assignment, and its cost for Redis and the leader.
 */
package io.github.shardkeeper.benchmarks.scale;
