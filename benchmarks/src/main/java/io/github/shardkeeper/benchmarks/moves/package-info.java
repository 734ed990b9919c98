/**
 * Effects on handlers when instances come, go, die and freeze: the scenarios, and the
 * tables of their results.
 */
package io.github.shardkeeper.benchmarks.moves;
