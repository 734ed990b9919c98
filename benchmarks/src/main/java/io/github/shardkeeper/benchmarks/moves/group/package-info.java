/**
 * A group under load: its instances, which are processes of their own, the records that
 * feed it, and what was handled when, exactly once or not.
 */
package io.github.shardkeeper.benchmarks.moves.group;
