/**
 * How fast records are consumed.
 */
package io.github.shardkeeper.benchmarks.consuming;
