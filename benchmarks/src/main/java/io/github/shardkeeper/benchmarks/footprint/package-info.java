/**
 * Cost of an application that has nothing to do: at its start, and while it waits for
 * records.
 */
package io.github.shardkeeper.benchmarks.footprint;
