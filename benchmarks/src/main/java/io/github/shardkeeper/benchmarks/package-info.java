/**
 * Entry point of all benchmarks, and the classes that they share.
 */
package io.github.shardkeeper.benchmarks;
