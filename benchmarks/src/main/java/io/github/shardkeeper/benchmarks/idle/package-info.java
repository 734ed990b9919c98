/**
 * Cost of one idle instance.
 */
package io.github.shardkeeper.benchmarks.idle;
