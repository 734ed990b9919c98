/**
 * Cost of the starter at the start of an application.
 */
package io.github.shardkeeper.benchmarks.startup;
