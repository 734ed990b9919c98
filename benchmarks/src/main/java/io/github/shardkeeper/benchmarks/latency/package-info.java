/**
 * Time from the sending of a record to the call of its handler.
 */
package io.github.shardkeeper.benchmarks.latency;
