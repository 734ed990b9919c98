/**
 * What the starter adds to the start of an application.
 */
package io.github.shardkeeper.benchmarks.startup;
