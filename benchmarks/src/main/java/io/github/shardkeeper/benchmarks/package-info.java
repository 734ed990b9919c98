/**
 * The front door of all benchmarks, and what they share.
 */
package io.github.shardkeeper.benchmarks;
