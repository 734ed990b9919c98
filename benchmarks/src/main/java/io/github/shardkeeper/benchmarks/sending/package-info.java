/**
 * Records per second that one instance sends.
 */
package io.github.shardkeeper.benchmarks.sending;
