/**
 * What one instance costs while there is nothing to do.
 */
package io.github.shardkeeper.benchmarks.idle;
