/**
 * Timers: how many are set and fired per second, and how late they fire.
 */
package io.github.shardkeeper.benchmarks.timers;
