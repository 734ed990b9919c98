/**
 * Locks beside those of Redisson, Spring Integration and ShedLock.
 */
package io.github.shardkeeper.benchmarks.locks;
